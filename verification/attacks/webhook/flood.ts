import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import type { Listener } from "./listeners.ts";

/** Connections from one address, each of which has sent a head and one byte of a body. */
export interface Flood {
  readonly sockets: readonly Socket[];
  end(): void;
}

const half = (path: string, headers: Readonly<Record<string, string>>): string =>
  [
    `POST ${path} HTTP/1.1`,
    "Host: a",
    "Content-Length: 1000",
    ...Object.entries(headers).map((pair) => pair.join(": ")),
  ]
    .concat("", "{")
    .join("\r\n");

/** Unsigned: the signature is of the right form, by no secret. */
export async function flood(
  { url, path, genuine }: Listener,
  { connections, from }: { readonly connections: number; readonly from: string },
): Promise<Flood> {
  const headers = { ...genuine().headers, "webhook-signature": `v1,${"A".repeat(43)}=` };
  const { port } = new URL(url);
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    const batch = Array.from({ length: Math.min(500, connections - sockets.length) }, async () => {
      const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress: from });
      sockets.push(socket);
      socket.on("error", () => undefined);
      await Promise.race([once(socket, "connect"), once(socket, "close")]);
      if (!socket.destroyed) socket.write(half(path, headers));
    });
    await Promise.all(batch);
  }
  // The listener has seen all that was sent before this answer.
  await send({ url, path: "/", from });
  return { sockets, end: () => sockets.forEach((socket) => socket.destroy()) };
}

/** The status of a genuine message from an address; 0 when the connection broke. */
export const genuineFrom = ({ url, path, genuine }: Listener, from: string): Promise<number> =>
  send({ url, path, from, ...genuine() });

async function send({
  url,
  path,
  from,
  headers = {},
  body = "",
}: {
  readonly url: string;
  readonly path: string;
  readonly from: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}): Promise<number> {
  const sent = request({
    host: "127.0.0.1",
    port: new URL(url).port,
    localAddress: from,
    agent: false,
    method: "POST",
    path,
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
  }).end(body);
  return new Promise((resolve) => {
    sent.on("error", () => resolve(0));
    sent.on("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
  });
}
