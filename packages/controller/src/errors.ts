import type { Duration } from "./duration.ts";

/** The fields of an error in addition to its message: the reason in the object's Ready condition, and the cause. */
export interface ErrorDetail {
  /** CamelCase word for the Ready condition. */
  readonly reason?: string;
  readonly cause?: unknown;
}

/**
 * A retry cannot help until something changes: the key is parked until the object changes.
 * Errors of classes that are not in this file are retried with backoff, without end unless `retry.attempts` is set.
 */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly reason: string;
  constructor(message: string, { reason = "Terminal", cause }: ErrorDetail = {}) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** A failure that is retried with backoff, like any other error, with a reason of its own for the Ready condition. */
export class RetryError extends Error {
  override readonly name = "RetryError";
  readonly reason: string;
  constructor(message: string, { reason = "Failed", cause }: ErrorDetail = {}) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** Another client changed what this run worked on: the run is repeated almost at once, and no failure is reported. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/**
 * The run is repeated after a given time. It does not count as a failure, so it neither increases nor uses up any
 * backoff. For a wait that is part of the work (a bucket that must be emptied first), and for servers that return a
 * time to wait.
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
 * An external account accepts no more calls for a while (a 429, a quota). No run that uses it starts before that time
 * is over, even if its key is woken; all other runs continue. It does not count as a failure.
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
