import {
  ConflictError,
  parseDuration,
  oneLine,
  RetryAfterError,
  RetryError,
  redact,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import type { CallType, Result } from "@drover/webhook";

/** The result of a function's success; empty if it has finalized. */
export type Success = Omit<Extract<Result, { outcome: "done" }>, "outcome"> &
  Partial<Pick<Extract<Result, { outcome: "composed" }>, "children">>;

/** The shortest wait that is granted, in milliseconds: a shorter one would be a hot loop. */
const minWaitMs = 1_000;

/**
 * The only place that maps a signed result to an outcome of the run.
 * @throws the error class that the runtime expects for the result's outcome; RetryError if the result does not answer a
 * call of this type.
 */
export function successOf(result: Result, type: CallType): Success {
  switch (result.outcome) {
    case "done":
    case "composed":
    case "finalized":
      return fieldsOf(result, type);
    case "again":
      throw waitOf(result);
    case "conflict":
      throw new ConflictError(functionMessage("has a conflict", result.message));
    case "failed":
      throw new RetryError(functionMessage("failed", result.message), {
        reason: result.reason ?? "FunctionFailed",
      });
    case "parked":
      throw new TerminalError(functionMessage("cannot go on", result.message), {
        reason: result.reason ?? "Refused",
      });
  }
}

/** Each type of call has its own success, so that an answer to a reconcile call cannot release an object by mistake. */
const successes = {
  "dev.drover.reconcile.v2": "done",
  "dev.drover.finalize.v2": "finalized",
  "dev.drover.compose.v2": "composed",
} as const satisfies Readonly<Record<CallType, Result["outcome"]>>;

function fieldsOf(
  { outcome, ...fields }: Extract<Result, { outcome: "done" | "composed" | "finalized" }>,
  type: CallType,
): Success {
  if (outcome === successes[type]) return fields;
  throw badAnswerError(`the outcome ${outcome} does not answer ${type}; ${successes[type]} does`);
}

function waitOf({ after, message, reason, account }: Extract<Result, { outcome: "again" }>): Error {
  const detail = { after: clampWait(after), ...(reason !== undefined && { reason }) };
  const words = functionMessage("asks for a wait", message);
  return account === undefined
    ? new RetryAfterError(words, detail)
    : new ThrottledError(words, { ...detail, account });
}

/** The wait that a function requests, raised to the minimum. */
export const clampWait = (wait: string): string => `${Math.max(minWaitMs, parseDuration(wait))}ms`;

/** The error for a body that was signed and cannot be used. */
export const badAnswerError = (problem: string): RetryError =>
  new RetryError(`The function's answer cannot be used: ${problem}. Correct what it answers.`, {
    reason: "BadAnswer",
  });

/**
 * The error for an answer that is not signed. Such an answer decides nothing, whatever its status: the run is retried,
 * with backoff. Its text and headers are not repeated, since they may not come from the function.
 */
export function unsignedError(status: number, problem: string): RetryError {
  if (status >= 300 && status < 400) {
    return new RetryError(
      `The address of the function answered ${status}, a redirect, which is not followed. Name the address itself in spec.webhook.`,
      { reason: "Redirected" },
    );
  }
  const advice = adviceFor(status);
  return new RetryError(
    `The function's answer, HTTP ${status}, is not signed: ${problem}.${advice} Sign its body with the secret of the call, under the call's webhook-id.`,
    { reason: "Unsigned" },
  );
}

/** Advice by HTTP status, because functions do not sign refusals of calls that they cannot verify or read. */
function adviceFor(status: number): string {
  switch (status) {
    case 400:
      return " If it refuses the call, it may be of version 1 of the contract: see docs/webhook-functions.md.";
    case 401:
      return " If it refuses the call, compare the secrets and the clocks.";
    case 421:
      return " If it refuses the call, compare its audience with the function's namespace, name and uid.";
    default:
      return "";
  }
}

const maxMessageLength = 1_000;

/**
 * A sentence with the function's own message, of signed results only: one line, no control characters, 1,000 characters
 * at most.
 */
function functionMessage(what: string, message = ""): string {
  const line = oneLine(redact(message)).replace(/\s+/g, " ").trim();
  const words = line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line;
  return words === "" ? `The function ${what}.` : `The function ${what}: ${words}`;
}
