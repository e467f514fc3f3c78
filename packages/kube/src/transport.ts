import type { Milliseconds } from "@drover/controller";
import { type Dispatcher, request as undiciRequest } from "undici";
import { readBounded } from "./bounded-body.ts";
import { ConnectionError, connectionError } from "./errors.ts";
import { places } from "./places.ts";
import { retryAfter } from "./retry-after.ts";
import type { Session, Sessions } from "./session.ts";

/** One request, before it knows a server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: { readonly type: string; readonly content: unknown };
  readonly signal?: AbortSignal | undefined;
  /** Until the whole reply is there; for a stream, until its headers are. */
  readonly timeout: Milliseconds;
  /** Called just before anything is sent, every time. What it throws is thrown, and nothing is sent. */
  readonly beforeSend?: (() => void) | undefined;
}

/** A reply, its body not judged yet. */
export interface Reply {
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: Milliseconds | undefined;
}
export interface WholeReply extends Reply {
  readonly body: Uint8Array;
}
export interface StreamReply extends Reply {
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

/**
 * HTTP to the API server. A 401 and an untrusted certificate make it read the credentials again, once, and repeat:
 * the server has done nothing in either case. All other outcomes are the caller's.
 */
export interface Transport {
  /**
   * @param limit bytes that the body may have.
   * @throws ConnectionError, MalformedReplyError for a larger body, or the signal's reason.
   */
  request(request: ApiRequest, limit: number): Promise<WholeReply>;
  /** As `request`, but the body is left to be read; `signal` cuts it off. */
  stream(request: ApiRequest): Promise<StreamReply>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly sessions: Sessions;
  readonly userAgent: string;
}

/** Each has a connection: hundreds of handshakes take longer than to wait for one, of both sides' processors. */
const requestsAtOnce = 32;

export function openTransport({ sessions, userAgent }: TransportOptions): Transport {
  const atOnce = places(requestsAtOnce);
  const send = async (
    request: ApiRequest,
    dispatcher: "requests" | "watches",
    signal: AbortSignal,
  ): Promise<StreamReply> => {
    const session = await sessions.current();
    const attempt = (through: Session): Promise<StreamReply> =>
      sent(request, { session: through, dispatcher: through[dispatcher], userAgent, signal });
    try {
      const reply = await attempt(session);
      if (reply.status !== 401) return reply;
      reply.body.destroy();
    } catch (error) {
      if (!(error instanceof ConnectionError && untrusted.test(error.code))) throw error;
    }
    return attempt(await sessions.renewed(session));
  };
  return {
    request: (request, limit) =>
      within(request, (signal) =>
        atOnce.taken(signal, async () => {
          const reply = await send(request, "requests", signal);
          return { ...reply, body: await readBounded(reply, limit) };
        }),
      ),
    stream: (request) => streamed(request, (signal) => send(request, "watches", signal)),
    close: () => sessions.close(),
  };
}

/** What TLS says about a server certificate that our CA does not vouch for (any more). */
const untrusted = /CERT|SIGNATURE|ISSUER/;

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path.replace(/\?.*/, "")}`;

interface Sending {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

async function sent(request: ApiRequest, sending: Sending): Promise<StreamReply> {
  const { server, headers } = sending.session.credentials;
  const content = request.body;
  request.beforeSend?.();
  const {
    statusCode,
    headers: received,
    body,
  } = await undiciRequest(new URL(`${server.pathname.replace(/\/$/, "")}${request.path}`, server), {
    dispatcher: sending.dispatcher,
    method: request.method,
    signal: sending.signal,
    headers: {
      accept: request.accept ?? "application/json",
      "user-agent": sending.userAgent,
      ...(content === undefined ? {} : { "content-type": content.type }),
      ...headers,
    },
    body: content === undefined ? null : JSON.stringify(content.content),
  }).catch((cause: unknown) => {
    throw connectionError(nameOf(request), cause);
  });
  // Nobody may be listening when a body breaks off after it was given up.
  body.on("error", () => undefined);
  return {
    request: nameOf(request),
    status: statusCode,
    contentType: first(received["content-type"]) ?? "",
    retryAfter: retryAfter(first(received["retry-after"]), Date.now()),
    body,
  };
}

/** Runs an exchange under its deadline, and tells apart who ended it. */
async function within<T>(request: ApiRequest, exchange: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(request.timeout);
  const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
  try {
    request.signal?.throwIfAborted();
    return await exchange(signal);
  } catch (error) {
    throw ended(request, deadline, error);
  }
}

/** A stream's deadline ends when its headers have come; from then on only the caller's signal cuts it. */
async function streamed(
  request: ApiRequest,
  exchange: (signal: AbortSignal) => Promise<StreamReply>,
): Promise<StreamReply> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), request.timeout);
  const signal =
    request.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, request.signal]);
  try {
    request.signal?.throwIfAborted();
    return await exchange(signal);
  } catch (error) {
    throw ended(request, deadline.signal, error);
  } finally {
    clearTimeout(timer);
  }
}

function ended(request: ApiRequest, deadline: AbortSignal, error: unknown): unknown {
  if (request.signal?.aborted === true) return request.signal.reason;
  if (!deadline.aborted) return error;
  const problem = `none came within ${request.timeout} ms.`;
  return new ConnectionError(nameOf(request), "TIMEOUT", problem, error);
}

const first = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;
