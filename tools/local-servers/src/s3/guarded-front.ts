import { withPageGuard } from "@drover/listener";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";

/** An HTTP listener on loopback in front of a server that listens on a Unix socket. */
export interface GuardedFront {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Passes HTTP on to a server that makes no checks of its own, but for requests of web pages, which it refuses. The server
 * behind listens on a Unix socket, where no web page comes.
 *
 * Bodies of requests are held in memory, as moto holds them. While the server does not answer, connections are cut, as by a server that has just died.
 * Rejects when the port is taken.
 *
 * @param port 0 takes a free one.
 */
export async function startGuardedFront(socketPath: string, port: number): Promise<GuardedFront> {
  const server = createServer(
    withPageGuard(
      (incoming, outgoing) => {
        pass(socketPath, incoming, outgoing).catch(() => incoming.socket.destroy());
      },
      { where: "everywhere" },
    ),
  );
  // A connection that is closed just as a request comes on it looks like a fault of the server.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function pass(socketPath: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method, url: path, rawHeaders } = incoming;
  // Sent whole: a server that has read all and answered closes the connection, and Node, which writes a body's end by
  // itself, would take that for an error and lose the answer.
  const body = await buffer(incoming);
  const onward = request({ socketPath, agent: false, method, path, headers: forwarded(rawHeaders) }).end(
    body,
  );
  const [answer] = (await once(onward, "response")) as [IncomingMessage];
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, forwarded(answer.rawHeaders));
  await pipeline(answer, outgoing);
}

/** Headers about one connection stay on it (RFC 9110, section 7.6.1). Node frames bodies according to `transfer-encoding`. */
const ofConnection = /^(connection|keep-alive|te|trailer|upgrade|expect)$/i;
const forwarded = (raw: readonly string[]): string[] =>
  raw.filter((_, i) => !ofConnection.test(raw[i - (i % 2)] ?? ""));
