import { type Milliseconds, serverTime } from "@drover/controller";
import { writeJson } from "@drover/json";
import { ConnectionError, connectionError } from "../errors.ts";
import { readResponse, type RawResponse, retryAfter } from "./read-response.ts";
import { semaphore } from "./semaphore.ts";
import type { Session, Sessions } from "./session.ts";

/** One request, without the address of a server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `content` is bytes, or a value that is sent as JSON. */
  readonly body?: { readonly type: string; readonly content: unknown };
  /** True if the API server forwards the request: the answer may be another process', also a 401. */
  readonly isForwarded?: boolean;
  /** The user to impersonate, if the sender may. Left out: the sender itself. */
  readonly actsAs?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Until the complete reply has arrived; for a stream, until its headers have. */
  readonly timeout: Milliseconds;
  /**
   * Called when a connection is available, just before the request is sent. If it throws, nothing is sent, and the call
   * throws the same error.
   */
  readonly beforeSend?: (() => void) | undefined;
}

/** A reply before its body is parsed. */
export interface Reply {
  readonly request: string;
  readonly status: number;
  readonly headers: RawResponse["headers"];
  readonly contentType: string;
  readonly retryAfter: Milliseconds | undefined;
}
export interface BufferedReply extends Reply {
  readonly body: Uint8Array;
}
export interface StreamReply extends Reply {
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown };
}

/**
 * HTTP to the API server. After a 401 or an untrusted certificate, it reads the credentials again, once, and repeats
 * the request: the server has done nothing in either case. All other outcomes are left to the caller.
 */
export interface Transport {
  /**
   * @param limit largest body, in bytes.
   * @throws ConnectionError, MalformedReplyError for a larger body, or the signal's reason.
   */
  request(request: ApiRequest, limit: number): Promise<BufferedReply>;
  /** As `request`, but the caller reads the body; `signal` aborts it. */
  stream(request: ApiRequest): Promise<StreamReply>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly sessions: Sessions;
  readonly userAgent: string;
}

/** Each has a connection. Hundreds of TLS handshakes take more CPU time on both sides than waiting for a connection. */
const requestsAtOnce = 32;

export function openTransport({ sessions, userAgent }: TransportOptions): Transport {
  const connectionLimit = semaphore(requestsAtOnce);
  return {
    request: (request, limit) =>
      withDeadline(request, (signal) =>
        connectionLimit.run(signal, async () => {
          const attempt = (session: Session): Promise<BufferedReply> =>
            bufferedReply(request, { session, userAgent, signal }, limit);
          return request.isForwarded === true
            ? attempt(await sessions.current())
            : withCredentials(sessions, attempt, () => undefined);
        }),
      ),
    stream: (request) =>
      withHeaderDeadline(request, (signal) =>
        withCredentials(
          sessions,
          (session) => openStream(request, { session, userAgent, signal }),
          ({ body }) => body.destroy(),
        ),
      ),
    close: () => sessions.close(),
  };
}

/** @param drop discards a reply that is not read. */
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

/** The same transport, with every request sent as this user. The API server derives a ServiceAccount's groups. */
export const transportAs = (transport: Transport, actsAs: string): Transport => ({
  request: (request, limit) => transport.request({ ...request, actsAs }, limit),
  stream: (request) => transport.stream({ ...request, actsAs }),
  close: () => transport.close(),
});

/** TLS error codes for a server certificate that our CA does not vouch for (any more). */
const untrusted = /CERT|SIGNATURE|ISSUER/;

const requestName = ({ method, path }: ApiRequest): string => `${method} ${path.replace(/\?.*/, "")}`;

interface SendContext {
  readonly session: Session;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

async function bufferedReply(
  request: ApiRequest,
  context: SendContext,
  limit: number,
): Promise<BufferedReply> {
  const name = requestName(request);
  const { session, signal } = context;
  const { beforeSend } = request;
  const { status, headers, body } = await readResponse({
    dispatcher: session.requests,
    request: dispatchOptions(request, context),
    name,
    limit,
    signal,
    beforeSend,
  });
  return { ...replyOf(name, status, headers), body };
}

async function openStream(request: ApiRequest, context: SendContext): Promise<StreamReply> {
  const name = requestName(request);
  const { session, signal } = context;
  const opening = session.watches.request({ ...dispatchOptions(request, context), signal });
  const { statusCode, headers, body } = await opening.catch((cause: unknown) => {
    throw connectionError(name, cause);
  });
  // A body that breaks off after the caller has left it must not cause an uncaught `error` event.
  body.on("error", () => undefined);
  return { ...replyOf(name, statusCode, headers), body };
}

function dispatchOptions(
  { method, path, accept, headers: own, body, actsAs }: ApiRequest,
  { session, userAgent }: SendContext,
) {
  const { server, headers } = session.credentials;
  return {
    origin: server.origin,
    path: `${server.pathname.replace(/\/$/, "")}${path}`,
    method,
    headers: {
      ...own,
      accept: accept ?? "application/json",
      "user-agent": userAgent,
      ...(body === undefined ? {} : { "content-type": body.type }),
      ...headers,
      ...(actsAs === undefined ? {} : { "impersonate-user": actsAs }),
    },
    body: body === undefined ? null : bytesOf(body.content),
  };
}

const bytesOf = (content: unknown): string | Uint8Array =>
  content instanceof Uint8Array ? content : writeJson(content);

const replyOf = (request: string, status: number, headers: RawResponse["headers"]): Reply => ({
  request,
  status,
  headers,
  contentType: first(headers["content-type"]) ?? "",
  retryAfter: retryAfter(first(headers["retry-after"]), serverTime(first(headers["date"]))),
});

/** Runs an exchange under its deadline. The error shows whether the caller's signal or the deadline ended it. */
async function withDeadline<T>(
  request: ApiRequest,
  exchange: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, timeout } = request;
  // AbortSignal.any and .timeout are not used: they cost a fifth of a request.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeout);
  signal?.addEventListener("abort", end);
  try {
    signal?.throwIfAborted();
    return await exchange(ending.signal);
  } catch (error) {
    throw deadlineError(request, ending.signal, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** A stream's deadline ends when its headers have arrived; after that only the caller's signal aborts it. */
async function withHeaderDeadline(
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
    throw deadlineError(request, deadline.signal, error);
  } finally {
    clearTimeout(timer);
  }
}

function deadlineError(request: ApiRequest, deadline: AbortSignal, error: unknown): unknown {
  if (request.signal?.aborted === true) return request.signal.reason;
  if (!deadline.aborted) return error;
  const problem = `none came within ${request.timeout} ms.`;
  return new ConnectionError(requestName(request), "TIMEOUT", problem, error);
}

const first = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;
