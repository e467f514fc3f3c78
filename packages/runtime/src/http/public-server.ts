import { waitAtMost } from "@drover/timers";
import type { Milliseconds } from "@drover/controller";
import { withPageGuard } from "@drover/listener";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { Admission } from "./admission.ts";
import { listenOn, type ListenOnOptions } from "./listen-on.ts";

export interface PublicServerOptions extends ListenOnOptions {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  /** Limits the memory that senders occupy. The app reads bodies through it. */
  readonly admission: Admission;
  readonly timeouts?: PublicServerTimeouts;
}

/** Time limits for a sender. */
export interface PublicServerTimeouts {
  readonly headers: Milliseconds;
  /** For a complete request, from its first byte to its last. */
  readonly request: Milliseconds;
}

/** A listener that unknown senders can reach. On loopback, requests of web pages are refused. */
export interface PublicServer {
  readonly url: string;
  /** Accepts no new connections, and waits for requests in progress, but not longer than `grace`. */
  close(grace?: Milliseconds): Promise<void>;
}

const defaultTimeouts: PublicServerTimeouts = { headers: 5_000, request: 10_000 };
const closeTimeout: Milliseconds = 2_000;

export async function servePublicly(options: PublicServerOptions): Promise<PublicServer> {
  const { app, admission, timeouts = defaultTimeouts } = options;
  const serverOptions = {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
    keepAliveTimeout: 5_000,
    // Bytes that a connection has read ahead are part of what it counts for itself.
    highWaterMark: 16 * 1_024,
  };
  const handle = getRequestListener(app.fetch, { hostname: options.host, overrideGlobalObjects: false });
  // Requests are signed, so any Host is accepted: gateway, tunnels and proxies use names of their own.
  const guard = { where: "loopback", hosts: "any" } as const;
  const server = createServer(
    serverOptions,
    withPageGuard((incoming, outgoing) => void handle(incoming, outgoing), guard),
  );
  server.on("connection", (socket: Socket) => admission.connected(socket));
  const watching = setInterval(() => admission.closeSlow(), 1_000).unref();
  const url = await listenOn(server, options);
  return {
    url,
    async close(grace = closeTimeout) {
      await waitAtMost(grace, new Promise((resolve) => server.close(resolve)));
      clearInterval(watching);
      server.closeAllConnections();
    },
  };
}
