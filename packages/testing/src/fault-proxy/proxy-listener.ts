import { withPageGuard, refusalMessage, verifyToken } from "@drover/listener";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sendStatus } from "./responses/wrong-responses.ts";

/** An address on loopback for clients. */
export interface OpenListener {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Accepts clients again after `shut`, at the same address. */
  readonly open: () => Promise<void>;
  /** Stops listening, and disconnects all clients. */
  readonly shut: () => Promise<void>;
  /** Disconnects all clients. */
  readonly cutOff: () => void;
}

export interface ListenerOptions {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** 0, the default: any free port. */
  readonly port?: number | undefined;
  /** The bearer token that every request must have; undefined: none is needed. */
  readonly token: string | undefined;
  /** Host names, without port, that clients may use in addition to those of loopback. */
  readonly hosts: readonly string[];
}

export async function openListener({ port: wanted = 0, ...options }: ListenerOptions): Promise<OpenListener> {
  const sockets = new Set<Socket>();
  const server = createServer(
    withPageGuard(
      behindToken(options),
      { where: "everywhere", hosts: options.hosts },
      (response, problem) => {
        sendStatus(response, { status: 403, message: refusalMessage(problem) });
      },
    ),
  );
  // No timeouts: a connection that is closed just as a request arrives would be a fault that is not in the plan.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await listen(wanted);
  const { port } = server.address() as AddressInfo;
  const cutOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    async open() {
      for (let tries = 0; !server.listening; tries++) {
        // Another process may have the port for a moment, for instance to find a free one.
        await listen(port).catch(async (error: unknown) => {
          if (tries > 100) throw error;
          await delay(50);
        });
      }
    },
    async shut() {
      const closed = server.listening ? once(server, "close") : Promise.resolve();
      server.close();
      cutOff();
      await closed;
    },
    cutOff,
  };
}

const behindToken =
  ({ onRequest, token }: Pick<ListenerOptions, "onRequest" | "token">): ListenerOptions["onRequest"] =>
  (request, response) => {
    if (token === undefined || verifyToken(request, token)) {
      onRequest(request, response);
      return;
    }
    const message =
      "this fault proxy serves only requests with its bearer token: use the kubeconfig that it writes";
    response.setHeader("connection", "close");
    sendStatus(response, { status: 401, message });
  };
