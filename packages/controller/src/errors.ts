import type { Duration } from "./duration.ts";

/** What an error says besides its message: the reason that the object's Ready condition shows, and the cause. */
export interface ErrorDetail {
  /** CamelCase word for the Ready condition. */
  readonly reason?: string;
  readonly cause?: unknown;
}

/**
 * Trying again cannot help until somebody changes something: the key is parked until the object changes.
 * Any other error is retried with backoff, for ever.
 */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly reason: string;
  constructor(message: string, { reason = "Terminal", cause }: ErrorDetail = {}) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** Failed, and tried again with backoff, as any other error; with a reason of its own for the Ready condition. */
export class RetryError extends Error {
  override readonly name = "RetryError";
  readonly reason: string;
  constructor(message: string, { reason = "Failed", cause }: ErrorDetail = {}) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** Somebody else changed in between what this run worked on: it is tried again almost at once, and quietly. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/**
 * Not now: try again after a given time. Not counted as a failure, so it neither grows nor uses up any backoff.
 * For a wait that is part of the work (a bucket that must be emptied first) and for servers that said when.
 */
export class RetryAfterError extends Error {
  override readonly name = "RetryAfterError";
  readonly reason: string;
  readonly after: Duration;
  constructor(
    message: string,
    { after, reason = "Waiting", cause }: ErrorDetail & { readonly after: Duration },
  ) {
    super(message, { cause });
    this.after = after;
    this.reason = reason;
  }
}

/**
 * An account of the outside world wants no more calls for a while (a 429, a quota): no run that uses it starts before
 * that time is over, whoever wakes it, while all others go on. Not a failure.
 */
export class ThrottledError extends Error {
  override readonly name = "ThrottledError";
  readonly reason: string;
  readonly account: string;
  readonly after: Duration;
  constructor(
    message: string,
    {
      account,
      after,
      reason = "Throttled",
      cause,
    }: ErrorDetail & { readonly account: string; readonly after: Duration },
  ) {
    super(message, { cause });
    this.account = account;
    this.after = after;
    this.reason = reason;
  }
}
