import type { Dispatcher } from "undici";
import { connectionError, MalformedReplyError } from "./errors.ts";

/** What is sent, and under which conditions. */
export interface Gathering {
  readonly dispatcher: Dispatcher;
  readonly sent: Dispatcher.DispatchOptions;
  /** Method and path, for errors. */
  readonly name: string;
  /** Bytes that the body may have. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called when there is a connection, just before anything is written to it. */
  readonly beforeSend?: (() => void) | undefined;
}

export interface Gathered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * Sends a request and gathers the reply. undici's own `request` gives a stream, which costs more than all else that one
 * of our requests does (bench/workloads).
 * @throws the signal's reason, what `beforeSend` throws, MalformedReplyError for too large a body, or ConnectionError.
 */
export function gather(gathering: Gathering): Promise<Gathered> {
  const { dispatcher, sent, name, limit, signal, beforeSend } = gathering;
  const reply = Promise.withResolvers<Gathered>();
  let started: Dispatcher.DispatchController | undefined;
  let head: Omit<Gathered, "body"> = { status: 0, headers: {} };
  const chunks: Uint8Array[] = [];
  let size = 0;
  const cutOff = (): void => {
    reply.reject(signal.reason);
    started?.abort(new Error("It was given up."));
  };
  const gone = (): void => signal.removeEventListener("abort", cutOff);
  signal.addEventListener("abort", cutOff);
  dispatcher.dispatch(sent, {
    // What is thrown here ends the request, and leaves the connection to others.
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
      gone();
      reply.resolve({ ...head, body: Buffer.concat(chunks) });
    },
    // It comes too late to be heard where the reason is ours.
    onResponseError(_controller, error) {
      gone();
      reply.reject(connectionError(name, error));
    },
  });
  return reply.promise;
}
