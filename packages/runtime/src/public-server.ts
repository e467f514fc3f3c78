import type { Milliseconds } from "@drover/controller";
import { type HttpBindings, serve } from "@hono/node-server";
import type { Hono } from "hono";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Admission } from "./admission.ts";

export interface PublicServerOptions {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  /** Bounds what senders hold here; the app reads bodies through it. */
  readonly admission: Admission;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Names the settings for host and port, in the error when the port is taken. */
  readonly settings: string;
  readonly times?: PublicServerTimes;
}

/** The longest that a sender may take. */
export interface PublicServerTimes {
  readonly headers: Milliseconds;
  /** For all of a request, from its first byte to its last. */
  readonly request: Milliseconds;
}

/** A listener that strangers reach. */
export interface PublicServer {
  readonly url: string;
  /** Lets nothing new in, and what is under way end for at most that time. */
  close(grace?: Milliseconds): Promise<void>;
}

const usual: PublicServerTimes = { headers: 5_000, request: 10_000 };
const farewell: Milliseconds = 2_000;

export async function servePublicly(options: PublicServerOptions): Promise<PublicServer> {
  const { app, admission, host, port, settings, times = usual } = options;
  const listening = Promise.withResolvers<number>();
  const serverOptions = {
    headersTimeout: times.headers,
    requestTimeout: times.request,
    connectionsCheckingInterval: Math.min(1_000, times.headers),
    keepAliveTimeout: 5_000,
    // What a connection has read ahead is in what it counts for itself.
    highWaterMark: 16 * 1_024,
  };
  const server = serve({ fetch: app.fetch, hostname: host, port, serverOptions }, (info) =>
    listening.resolve(info.port),
  );
  server.on("connection", (socket: Socket) => admission.connected(socket));
  const watching = setInterval(() => admission.endSlow(), 1_000).unref();
  server.once("error", (cause: Error) => {
    const message = `Cannot listen on ${host}:${port}. Free the port, or set ${settings}.`;
    listening.reject(new Error(message, { cause }));
  });
  const bound = await listening.promise;
  return {
    url: `http://${host}:${bound}`,
    async close(grace = farewell) {
      const over = new AbortController();
      const late = delay(grace, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([new Promise((resolve) => server.close(resolve)), late]);
      over.abort();
      clearInterval(watching);
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
}
