import { messageOf, type Milliseconds } from "@drover/controller";
import { ApiError, ConnectionError, MalformedReplyError } from "../errors.ts";

/** A failure of a stream, classed by what the stream does next. */
export interface Failure {
  readonly kind:
    /** 410: the version of our request is too old: list again. */
    | "expired"
    /** It ends by itself: no connection, 429, 5xx. Also a failure of the receiver of events. */
    | "passing"
    /** A reply that cannot be used; the version from which we resume may be the cause. */
    | "doubtful"
    /** An operator has to act: missing permission, kind not served. Retried slowly, and reported. */
    | "refused";
  /** CamelCase word, for conditions and metrics. */
  readonly reason: string;
  readonly message: string;
  /** How long the server asked the client to wait. */
  readonly retryAfter?: Milliseconds | undefined;
}

/** Classes an error of a list or a watch. */
export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof ConnectionError) return { kind: "passing", reason: "NoAnswer", message };
  if (error instanceof MalformedReplyError) return { kind: "doubtful", reason: "MalformedReply", message };
  if (error instanceof ApiError) return { ...classed(error), message, retryAfter: error.retryAfter };
  return { kind: "passing", reason: "Unexpected", message };
}

/** The receiver of events threw: the same events are emitted again. */
export const receiverFailed = (error: unknown): Failure => ({
  ...failureOf(error),
  kind: "passing",
  reason: "ReceiverFailed",
  retryAfter: undefined,
});

function classed({ kind }: ApiError): Pick<Failure, "kind" | "reason"> {
  switch (kind) {
    case "Expired":
      return { kind: "expired", reason: kind };
    case "TooManyRequests":
    case "ServerError":
      return { kind: "passing", reason: kind };
    // A version that the server has not reached (etcd was restored) is answered with a Timeout.
    case "Timeout":
    case "Conflict":
    case "AlreadyExists":
      return { kind: "doubtful", reason: kind };
    case "Forbidden":
    case "Unauthorized":
    case "NotServed":
    case "NotFound":
    case "Invalid":
      return { kind: "refused", reason: kind };
  }
}
