import {
  ConflictError,
  type Milliseconds,
  RetryAfterError,
  RetryError,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { type Answer, type Failure, failureSchema } from "@drover/webhook";

/** What a function said, by an answer or a completion. */
export interface Said {
  readonly status: number;
  /** The wait that it asked for, bounded. */
  readonly retryAfter?: Milliseconds | undefined;
  /** Whether it is known to be the function that says so. */
  readonly isSigned: boolean;
  /** What it says why, where that could be read. */
  readonly failure: Failure;
}

/** The shortest wait that is granted. */
const shortest: Milliseconds = 1_000;

/** What has nothing to do with the object: the function is being deployed, its secret changed, a proxy is in between. */
const notItsFault = new Set([401, 404, 405, 407, 408, 421, 425]);

/**
 * The one place where what a function said, other than 200, becomes what happens next: always an error, of which the
 * runtime knows what it means.
 */
export function errorOf({ status, retryAfter, isSigned, failure }: Said): Error {
  const { account, reason } = failure;
  const words = wordsOf(failure);
  const said = `The function answered ${status}${words}`;
  const detail = reason === undefined ? {} : { reason };
  if (retryAfter !== undefined && (status === 409 || status === 429 || status === 503)) {
    const after = `${Math.max(shortest, Math.round(retryAfter))}ms`;
    return status === 429 && isSigned && account !== undefined
      ? new ThrottledError(said, { ...detail, account, after })
      : new RetryAfterError(said, { ...detail, after });
  }
  if (status === 409) return new ConflictError(said);
  if (status >= 300 && status < 400) {
    return new RetryError(`${said}. Redirects are not followed: name the address itself in spec.webhook.`, {
      reason: "Redirected",
    });
  }
  if (status < 300) {
    return new RetryError(`${said}, which means nothing here. Answer 200 or 202.`, { reason: "BadAnswer" });
  }
  if (status >= 500 || status === 429 || notItsFault.has(status)) {
    return new RetryError(said, { reason: reason ?? (status >= 500 ? "FunctionFailed" : "NotAnswered") });
  }
  return new TerminalError(said, { reason: reason ?? "Refused" });
}

/** What a body that is no success says: JSON, as `failureSchema` has it, or plain text. */
export function failureIn(value: unknown): Failure {
  const parsed = failureSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return typeof value === "string" ? { message: value } : {};
}

/** An answer that was signed, but is none. */
export const badAnswer = (problem: string): RetryError =>
  new RetryError(`The function's answer cannot be used: ${problem}. Correct what it answers.`, {
    reason: "BadAnswer",
  });

export const unsigned = (problem: string): RetryError =>
  new RetryError(
    `The function's answer is not signed: ${problem}. Sign its body with the secret of the call, under the call's webhook-id.`,
    { reason: "Unsigned" },
  );

const longestWords = 1_000;

/** Of what a stranger wrote: one line, no control characters, nothing endless. */
function wordsOf({ message = "" }: Failure): string {
  const line = message
    .slice(0, 4 * longestWords)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  if (line === "") return "";
  return `: ${line.length > longestWords ? `${line.slice(0, longestWords)}…` : line}`;
}

/** An answer's wait, as long as it may be. */
export function waitIn(
  { requeueAfter }: Answer,
  milliseconds: (text: string) => Milliseconds,
): string | undefined {
  return requeueAfter === undefined ? undefined : `${Math.max(shortest, milliseconds(requeueAfter))}ms`;
}
