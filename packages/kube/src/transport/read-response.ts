import type { Dispatcher } from "undici";
import { connectionError, MalformedReplyError } from "../errors.ts";

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
