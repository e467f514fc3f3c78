import type { Milliseconds } from "@drover/controller";
import { guarded } from "@drover/listener";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { createServer, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listenOn, type ListenOnOptions } from "./listen-on.ts";

export interface PublicServerOptions extends ListenOnOptions {
  readonly app: Hono<{ Bindings: HttpBindings }>;
  readonly times?: PublicServerTimes;
}

/** Who sends slowly does not hold a connection for longer. */
export interface PublicServerTimes {
  readonly headers: Milliseconds;
  /** For all of a request, from its first byte to its last. */
  readonly request: Milliseconds;
}

/** A listener that strangers reach. On loopback, web pages do not. */
export interface PublicServer {
  readonly url: string;
  /** Lets nothing new in, and what is under way end for at most that time. */
  close(grace?: Milliseconds): Promise<void>;
}

const usual: PublicServerTimes = { headers: 5_000, request: 10_000 };
const mostConnections = 1_000;
const farewell: Milliseconds = 2_000;

export async function servePublicly(options: PublicServerOptions): Promise<PublicServer> {
  const { app, times = usual } = options;
  const serverOptions = {
    headersTimeout: times.headers,
    requestTimeout: times.request,
    connectionsCheckingInterval: Math.min(1_000, times.headers),
    keepAliveTimeout: 5_000,
  };
  const handle = getRequestListener(app.fetch, { hostname: options.host });
  // Requests are signed, and may ask for any host: gateway, tunnels and proxies use names of their own.
  const guard = { where: "loopback", hosts: "any" } as const;
  const server = createServer(
    serverOptions,
    guarded((incoming, outgoing) => void handle(incoming, outgoing), guard),
  );
  server.maxConnections = mostConnections;
  const url = await listenOn(server, options);
  return {
    url,
    async close(grace = farewell) {
      const over = new AbortController();
      const late = delay(grace, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([new Promise((resolve) => server.close(resolve)), late]);
      over.abort();
      server.closeAllConnections();
    },
  };
}

/** A body that is not taken. */
export class BodyRefusedError extends Error {
  override readonly name = "BodyRefusedError";
  readonly why: "too large" | "cut off";
  constructor(why: BodyRefusedError["why"], cause?: unknown) {
    super(`The body is ${why}.`, { cause });
    this.why = why;
  }
}

/**
 * The whole body of a request, which may have `most` bytes, counted as they come.
 * @throws BodyRefusedError
 */
export async function readIncoming(incoming: IncomingMessage, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  const bodyOf: AsyncIterable<Buffer> = incoming.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of bodyOf) {
      size += chunk.length;
      if (size > most) throw new BodyRefusedError("too large");
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof BodyRefusedError ? error : new BodyRefusedError("cut off", error);
  }
  return Buffer.concat(chunks);
}
