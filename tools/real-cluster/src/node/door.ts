// The way into the cluster's network for processes outside, which cannot see it: a Unix socket. Folders are shared by
// both sides. A connection to it begins with a line `host:port`, and is that connection from then on.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** An address of the cluster's network, as this machine reaches it. */
export interface Reached {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): void;
}

/** Inside: takes connections at `path`. It ends with its process. */
export async function openDoor(path: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let begun = "";
    const onData = (chunk: Buffer) => {
      // Byte for byte: what follows the line is anything.
      begun += chunk.toString("latin1");
      const end = begun.indexOf("\n");
      if (end === -1) return;
      socket.off("data", onData).pause();
      socket.unshift(Buffer.from(begun.slice(end + 1), "latin1"));
      const [host = "", port = ""] = begun.slice(0, end).split(":");
      couple(socket, connect({ host, port: Number(port), allowHalfOpen: true }));
    };
    socket.on("error", () => undefined).on("data", onData);
  });
  server.listen(path);
  await once(server, "listening");
}

/** Outside: has a free port of 127.0.0.1 lead to an address inside. The address need not be open yet. */
export async function throughDoor(path: string, host: string, port: number): Promise<Reached> {
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const inner = connect({ path, allowHalfOpen: true });
    inner.write(`${host}:${port}\n`);
    couple(socket, inner);
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Passes bytes in both directions, and the end of each. */
function couple(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy()).on("close", () => to.end());
  }
}
