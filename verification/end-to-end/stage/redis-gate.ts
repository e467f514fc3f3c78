import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../harness/listen.ts";

/** Between one process and Redis: sees what is asked, and can keep the answers. */
export interface RedisGate {
  readonly url: string;
  /** From the first request on that holds these texts no answer comes through. Resolves when it was passed on. */
  keepAnswersTo(...texts: readonly string[]): Promise<void>;
  /** Answers come through again, to new connections. */
  open(): void;
  close(): Promise<void>;
}

export async function openRedisGate(port: number): Promise<RedisGate> {
  let awaited: { readonly texts: readonly string[]; readonly seen: () => void } | undefined;
  let isKept = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: "127.0.0.1" });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on("error", () => undefined)
        .on("close", () => {
          sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
    near.on("data", (request) => {
      const isIt = awaited?.texts.every((text) => request.includes(text)) === true;
      if (isIt) isKept = true;
      far.write(request, () => isIt && awaited?.seen());
    });
    far.on("data", (answer) => {
      if (!isKept) near.write(answer);
    });
  });
  const own = await listen(server);
  return {
    url: `redis://127.0.0.1:${own}`,
    keepAnswersTo: (...texts) => new Promise((seen) => (awaited = { texts, seen })),
    open() {
      awaited = undefined;
      isKept = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
}
