import { messageOf, type Milliseconds } from "@drover/controller";
import { ApiError, ConnectionError, MalformedReplyError } from "../errors.ts";

/** What broke a stream, as far as it decides what comes next. */
export interface Failure {
  readonly kind:
    /** 410: what we hold is too old: list again. */
    | "expired"
    /** It passes by itself: no connection, 429, 5xx. Also the receiver of events failing. */
    | "passing"
    /** Answered, but with what cannot be used; perhaps the version that we resume from is to blame. */
    | "doubtful"
    /** Somebody must act: no permission, kind not served. Retried slowly, and reported. */
    | "refused";
  /** CamelCase word, for conditions and metrics. */
  readonly reason: string;
  readonly message: string;
  /** How long the server asked to be left alone. */
  readonly retryAfter?: Milliseconds | undefined;
}

/** Classes what a list or watch threw. */
export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof ConnectionError) return { kind: "passing", reason: "NoAnswer", message };
  if (error instanceof MalformedReplyError) return { kind: "doubtful", reason: "MalformedReply", message };
  if (error instanceof ApiError) return { ...classed(error), message, retryAfter: error.retryAfter };
  return { kind: "passing", reason: "Unexpected", message };
}

/** The receiver of events threw: what it was told is told again. */
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
    // A version from the future (etcd was restored) is answered with a Timeout.
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
