import { connect, createServer } from "node:net";
import { listen } from "../../../verification/harness/listen.ts";

/**
 * A way to a server on this machine that counts the bytes that pass. It looks into nothing: TLS, HTTP/2 and compression
 * are as they would be without it.
 */
export interface CountingForwarder {
  readonly port: number;
  /** Bytes from the server since the start, as they are on the wire. */
  received(): number;
  stop(): void;
}

export async function startCountingForwarder(target: number): Promise<CountingForwarder> {
  let received = 0;
  const server = createServer((near) => {
    const far = connect({ port: target, host: "127.0.0.1" });
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.setNoDelay().on("error", end).on("close", end);
    far.on("data", (chunk) => (received += chunk.length));
    near.pipe(far);
    far.pipe(near);
    open.add(end);
    near.once("close", () => open.delete(end));
  });
  const open = new Set<() => void>();
  const port = await listen(server);
  return {
    port,
    received: () => received,
    stop() {
      server.close();
      for (const end of open) end();
    },
  };
}
