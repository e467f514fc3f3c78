import { type Milliseconds, serverTime } from "@drover/controller";
import { writeJson } from "@drover/json";
import { ConnectionError, connectionError } from "./errors.ts";
import { gather, type Gathered } from "./gather.ts";
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
  /** The user as whom it is sent, whom the sender may impersonate. Left out: the sender. */
  readonly actsAs?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Until the whole reply is there; for a stream, until its headers are. */
  readonly timeout: Milliseconds;
  /** Called when there is a connection, just before anything is sent. What it throws is thrown, and nothing is sent. */
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
  return {
    request: (request, limit) =>
      within(request, (signal) =>
        atOnce.taken(signal, () =>
          withCredentials(
            sessions,
            (session) => wholeReply(request, { session, userAgent, signal }, limit),
            () => undefined,
          ),
        ),
      ),
    stream: (request) =>
      streamed(request, (signal) =>
        withCredentials(
          sessions,
          (session) => openedReply(request, { session, userAgent, signal }),
          ({ body }) => body.destroy(),
        ),
      ),
    close: () => sessions.close(),
  };
}

/** @param drop lets go of a reply that nobody reads. */
async function withCredentials<R extends Reply>(
  sessions: Sessions,
  attempt: (session: Session) => Promise<R>,
  drop: (reply: R) => void,
): Promise<R> {
  const session = await sessions.current();
  try {
    const reply = await attempt(session);
    if (reply.status !== 401) return reply;
    drop(reply);
  } catch (error) {
    if (!(error instanceof ConnectionError && untrusted.test(error.code))) throw error;
  }
  return attempt(await sessions.renewed(session));
}

/** The same transport, by which every request is sent as this user. The API server derives the groups of a ServiceAccount. */
export const transportAs = (transport: Transport, actsAs: string): Transport => ({
  request: (request, limit) => transport.request({ ...request, actsAs }, limit),
  stream: (request) => transport.stream({ ...request, actsAs }),
  close: () => transport.close(),
});

/** What TLS says about a server certificate that our CA does not vouch for (any more). */
const untrusted = /CERT|SIGNATURE|ISSUER/;

const nameOf = ({ method, path }: ApiRequest): string => `${method} ${path.replace(/\?.*/, "")}`;

interface Way {
  readonly session: Session;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

async function wholeReply(request: ApiRequest, way: Way, limit: number): Promise<WholeReply> {
  const name = nameOf(request);
  const { session, signal } = way;
  const { beforeSend } = request;
  const sent = sentBy(request, way);
  const { status, headers, body } = await gather({
    dispatcher: session.requests,
    sent,
    name,
    limit,
    signal,
    beforeSend,
  });
  return { ...replyOf(name, status, headers), body };
}

async function openedReply(request: ApiRequest, way: Way): Promise<StreamReply> {
  const name = nameOf(request);
  const { session, signal } = way;
  const opening = session.watches.request({ ...sentBy(request, way), signal });
  const { statusCode, headers, body } = await opening.catch((cause: unknown) => {
    throw connectionError(name, cause);
  });
  // Nobody may be listening when a body breaks off after it was given up.
  body.on("error", () => undefined);
  return { ...replyOf(name, statusCode, headers), body };
}

function sentBy({ method, path, accept, body, actsAs }: ApiRequest, { session, userAgent }: Way) {
  const { server, headers } = session.credentials;
  return {
    origin: server.origin,
    path: `${server.pathname.replace(/\/$/, "")}${path}`,
    method,
    headers: {
      accept: accept ?? "application/json",
      "user-agent": userAgent,
      ...(body === undefined ? {} : { "content-type": body.type }),
      ...headers,
      ...(actsAs === undefined ? {} : { "impersonate-user": actsAs }),
    },
    body: body === undefined ? null : writeJson(body.content),
  };
}

const replyOf = (request: string, status: number, headers: Gathered["headers"]): Reply => ({
  request,
  status,
  contentType: first(headers["content-type"]) ?? "",
  retryAfter: retryAfter(first(headers["retry-after"]), serverTime(first(headers["date"]))),
});

/** Runs an exchange under its deadline, and tells apart who ended it. */
async function within<T>(request: ApiRequest, exchange: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, timeout } = request;
  // Not AbortSignal.any and .timeout: they cost a fifth of a request.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeout);
  signal?.addEventListener("abort", end);
  try {
    signal?.throwIfAborted();
    return await exchange(ending.signal);
  } catch (error) {
    throw ended(request, ending.signal, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
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
