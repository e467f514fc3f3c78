import { once } from "node:events";
import { connect } from "node:net";

/** An answer as an attacker sees it. */
export interface Seen {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends what a browser would send, byte by byte: no client sets headers of its own or refuses to.
 *
 * @param start such as `GET /metrics`.
 * @param headers those that a browser sends for the page, `Host` among them.
 */
export async function send(url: string, start: string, headers: readonly string[], body = ""): Promise<Seen> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  socket.write([`${start} HTTP/1.1`, ...headers, ...length, "Connection: close", "", body].join("\r\n"));
  await once(socket, "close");
  return { status: Number(/^HTTP\/1\.\d (\d+)/.exec(text)?.[1] ?? 0), text };
}

/** After DNS rebinding, a page's own name leads to loopback: its requests are of one origin, and have no other mark. */
export const rebound = ["Host: evil.example"];
/** A page of another origin asks for the address itself. */
export const crossOrigin = (url: string) => [
  `Host: ${new URL(url).host}`,
  "Origin: http://evil.example",
  "Sec-Fetch-Site: cross-site",
];
