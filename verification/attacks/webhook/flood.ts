import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import type { Attack } from "../attack.ts";
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

/** Half-sent messages from one address; the status that a plain HTTP client gets for a genuine message judges. */
export const floodAttack = (
  attack: Pick<Attack, "name" | "slow">,
  start: () => Promise<Listener>,
  connections: number,
): Attack => ({
  ...attack,
  kind: "work before verification",
  needs: [],
  async run() {
    const listener = await start();
    const before = await genuineFrom(listener, "127.0.0.3");
    const held = await flood(listener, { connections, from: "127.0.0.2" });
    const another = await genuineFrom(listener, "127.0.0.3");
    const neighbour = await genuineFrom(listener, "127.0.0.2");
    held.end();
    await listener.close();
    const { taken } = listener;
    if (before !== taken) throw new Error(`A genuine message is answered ${before}, not ${taken}.`);
    return {
      succeeded: another !== taken || neighbour !== taken,
      evidence: `before ${before}; with ${connections} half-sent: another address ${another}, the same address ${neighbour}`,
    };
  },
});
