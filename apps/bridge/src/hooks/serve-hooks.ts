import type { Milliseconds } from "@drover/controller";
import { type HttpBindings, serve } from "@hono/node-server";
import type { Hono } from "hono";
import { atMost } from "../pause.ts";

export interface HookServerOptions {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly times?: HookServerTimes;
}

/** Who sends slowly does not hold a connection for longer. */
export interface HookServerTimes {
  readonly headers: Milliseconds;
  /** For all of a request, from its first byte to its last. */
  readonly request: Milliseconds;
}

export interface HookServer {
  readonly url: string;
  /** Lets no new events in, and those under way end for a moment. */
  close(): Promise<void>;
}

const usual: HookServerTimes = { headers: 5_000, request: 10_000 };
const mostConnections = 1_000;
const farewell: Milliseconds = 2_000;

export async function serveHooks({ app, host, port, times = usual }: HookServerOptions): Promise<HookServer> {
  const listening = Promise.withResolvers<number>();
  const serverOptions = {
    headersTimeout: times.headers,
    requestTimeout: times.request,
    connectionsCheckingInterval: Math.min(1_000, times.headers),
    keepAliveTimeout: 5_000,
  };
  const server = serve({ fetch: app.fetch, hostname: host, port, serverOptions }, (info) =>
    listening.resolve(info.port),
  );
  server.maxConnections = mostConnections;
  server.once("error", (cause: Error) => {
    listening.reject(
      new Error(
        `Cannot listen on ${host}:${port}. Free the port, or set DROVER_HOOKS_PORT and DROVER_HOOKS_HOST.`,
        {
          cause,
        },
      ),
    );
  });
  const bound = await listening.promise;
  return {
    url: `http://${host}:${bound}`,
    async close() {
      await atMost(farewell, new Promise((resolve) => server.close(resolve)));
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
}
