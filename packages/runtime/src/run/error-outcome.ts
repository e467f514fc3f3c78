import {
  type Condition,
  ConflictError,
  messageOf,
  type Milliseconds,
  parseDuration,
  readyCondition,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { ApiError, ConnectionError, WriteRefusedError } from "@drover/kube";
import { abortOutcome, type RunOutcome } from "@drover/queue";

/**
 * The result of a run's error: the outcome for the queue, and the Ready condition to write; undefined: the status is
 * not changed.
 */
export interface ErrorOutcome {
  readonly outcome: RunOutcome;
  readonly ready: Condition | undefined;
}

/**
 * The only place that maps an error to an outcome. It uses only the error's class, never its message.
 *
 * @param aborted the reason of the run's signal if that has fired: any error is then a consequence of it.
 */
export function outcomeOfError(error: unknown, aborted: unknown): ErrorOutcome {
  if (aborted !== undefined) {
    const outcome = abortOutcome(aborted);
    return { outcome, ready: outcome.kind === "retry" ? notReady("TimedOut", aborted) : undefined };
  }
  if (error instanceof WriteRefusedError) return { outcome: { kind: "interrupted" }, ready: undefined };
  if (error instanceof TerminalError) {
    return { outcome: { kind: "terminal", error: messageOf(error) }, ready: notReady(error.reason, error) };
  }
  if (error instanceof RetryAfterError) {
    return {
      outcome: { kind: "wait", after: parseDuration(error.after) },
      ready: notReady(error.reason, error),
    };
  }
  if (error instanceof ThrottledError) {
    const { account, after, reason } = error;
    return {
      outcome: { kind: "throttled", account, after: parseDuration(after) },
      ready: notReady(reason, error),
    };
  }
  if (error instanceof ConflictError) return { outcome: { kind: "conflict" }, ready: undefined };
  if (error instanceof ApiError) return apiOutcome(error);
  if (error instanceof ConnectionError) return retryOutcome(error, "ApiServerUnreachable");
  return retryOutcome(error, error instanceof RetryError ? error.reason : "Failed");
}

function apiOutcome(error: ApiError): ErrorOutcome {
  switch (error.kind) {
    case "Conflict":
      return { outcome: { kind: "conflict" }, ready: undefined };
    case "TooManyRequests":
    case "ServerError":
      return retryOutcome(error, error.kind, error.retryAfter);
    case "NotFound":
    case "NotServed":
    case "AlreadyExists":
    case "Invalid":
    case "Forbidden":
    case "Unauthorized":
    case "Expired":
    case "Timeout":
      return retryOutcome(error, error.kind);
  }
}

function retryOutcome(error: unknown, reason: string, after?: Milliseconds): ErrorOutcome {
  const message = messageOf(error);
  const outcome = { kind: "retry", error: message, ...(after === undefined ? {} : { after }) } as const;
  return { outcome, ready: notReady(reason, error) };
}

const notReady = (reason: string, error: unknown): Condition => ({
  type: readyCondition,
  status: "False",
  reason,
  message: messageOf(error),
});
