import type { Dispatcher } from "undici";
import { connectionError, MalformedReplyError } from "../errors.ts";
import type { Milliseconds } from "@drover/controller";

/** A request to send, and its limits. */
export interface ResponseRequest {
  readonly dispatcher: Dispatcher;
  readonly request: Dispatcher.DispatchOptions;
  /** Method and path, for errors. */
  readonly name: string;
  /** Largest body of the reply, in bytes. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called when a connection is available, just before the request is written to it. */
  readonly beforeSend?: (() => void) | undefined;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends a request and collects the reply. undici's own `request` returns a stream, which costs more than everything
 * else in one of our requests (bench/workloads).
 * @throws the signal's reason, the error of `beforeSend`, MalformedReplyError for too large a body, or ConnectionError.
 */
export function readResponse(options: ResponseRequest): Promise<RawResponse> {
  const { dispatcher, request, name, limit, signal, beforeSend } = options;
  const reply = Promise.withResolvers<RawResponse>();
  let started: Dispatcher.DispatchController | undefined;
  let head: Omit<RawResponse, "body"> = { status: 0, headers: {} };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const abort = (): void => {
    reply.reject(signal.reason);
    started?.abort(new Error("It was given up."));
  };
  const stopListening = (): void => signal.removeEventListener("abort", abort);
  signal.addEventListener("abort", abort);
  dispatcher.dispatch(request, {
    // An error that is thrown here ends the request, and leaves the connection to other requests.
    onRequestStart(controller) {
      signal.throwIfAborted();
      try {
        beforeSend?.();
      } catch (error) {
        reply.reject(error);
        throw error;
      }
      started = controller;
    },
    onResponseStart(_controller, status, headers) {
      head = { status, headers };
    },
    onResponseData(controller, chunk) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size <= limit) return;
      const problem = new MalformedReplyError(name, `its body has more than ${limit} bytes.`);
      reply.reject(problem);
      controller.abort(problem);
    },
    onResponseEnd() {
      stopListening();
      reply.resolve({ ...head, body: Buffer.concat(chunks) });
    },
    // If we aborted the request, the reply was rejected before, with the better reason.
    onResponseError(_controller, error) {
      stopListening();
      reply.reject(connectionError(name, error));
    },
  });
  return reply.promise;
}

/** The longest Retry-After that counts. If a server asks for more, it is asked again after this time. */
export const longestRetryAfter: Milliseconds = 5 * 60_000;

/**
 * The wait that a `Retry-After` header asks for, between 0 and {@link longestRetryAfter}. The header has seconds, as
 * from Kubernetes, or an HTTP date, as a proxy may send it (RFC 9110, 10.2.3). Undefined for any other text, such as
 * `-1`: then the server has named no time.
 *
 * @param wallClock milliseconds since 1970 by the server's clock, from which a date is counted.
 */
export function retryAfter(header: string | undefined, wallClock: Milliseconds): Milliseconds | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,15}(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, longestRetryAfter);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const date = Date.parse(text);
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(date - wallClock, 0), longestRetryAfter);
}
