import {
  type Condition,
  ConflictError,
  messageOf,
  type Milliseconds,
  milliseconds,
  ready,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { ApiError, ConnectionError, WriteRefusedError } from "@drover/kube";
import { abortVerdict, type Verdict } from "@drover/queue";

/**
 * The result of a run's error: the outcome for the queue, and the Ready condition to write; undefined: the status is
 * not changed.
 */
export interface Outcome {
  readonly verdict: Verdict;
  readonly ready: Condition | undefined;
}

/**
 * The only place that maps an error to an outcome. It uses only the error's class, never its message.
 *
 * @param aborted the reason of the run's signal if that has fired: any error is then a consequence of it.
 */
export function outcomeOf(error: unknown, aborted: unknown): Outcome {
  if (aborted !== undefined) {
    const verdict = abortVerdict(aborted);
    return { verdict, ready: verdict.kind === "retry" ? failed("TimedOut", aborted) : undefined };
  }
  if (error instanceof WriteRefusedError) return { verdict: { kind: "interrupted" }, ready: undefined };
  if (error instanceof TerminalError) {
    return { verdict: { kind: "terminal", error: messageOf(error) }, ready: failed(error.reason, error) };
  }
  if (error instanceof RetryAfterError) {
    return {
      verdict: { kind: "wait", after: milliseconds(error.after) },
      ready: failed(error.reason, error),
    };
  }
  if (error instanceof ThrottledError) {
    const { account, after, reason } = error;
    return {
      verdict: { kind: "throttled", account, after: milliseconds(after) },
      ready: failed(reason, error),
    };
  }
  if (error instanceof ConflictError) return { verdict: { kind: "conflict" }, ready: undefined };
  if (error instanceof ApiError) return apiOutcome(error);
  if (error instanceof ConnectionError) return retry(error, "ApiServerUnreachable");
  return retry(error, error instanceof RetryError ? error.reason : "Failed");
}

function apiOutcome(error: ApiError): Outcome {
  switch (error.kind) {
    case "Conflict":
      return { verdict: { kind: "conflict" }, ready: undefined };
    case "TooManyRequests":
    case "ServerError":
      return retry(error, error.kind, error.retryAfter);
    case "NotFound":
    case "NotServed":
    case "AlreadyExists":
    case "Invalid":
    case "Forbidden":
    case "Unauthorized":
    case "Expired":
    case "Timeout":
      return retry(error, error.kind);
  }
}

function retry(error: unknown, reason: string, after?: Milliseconds): Outcome {
  const message = messageOf(error);
  const verdict = { kind: "retry", error: message, ...(after === undefined ? {} : { after }) } as const;
  return { verdict, ready: failed(reason, error) };
}

const failed = (reason: string, error: unknown): Condition => ({
  type: ready,
  status: "False",
  reason,
  message: messageOf(error),
});
