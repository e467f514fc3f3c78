import type { Milliseconds } from "@drover/controller";
import { ApiError, ConnectionError } from "../errors.ts";
import { sleep, type Timers } from "@drover/timers";

export interface RetryRule {
  /** Most repeats of a call. */
  readonly most: number;
  /** Reads are repeated after any failure that may pass; writes only if the server has reported that it did nothing. */
  readonly of: "read" | "write";
  readonly timers: Timers;
  readonly signal: AbortSignal | undefined;
}

/** A longer Retry-After is left to the caller, which has a queue for the work. */
const longestWait: Milliseconds = 5_000;
const firstWait: Milliseconds = 100;

/** Makes a call, and repeats it while the rule allows, never within a Retry-After. */
export async function withRetries<T>(rule: RetryRule, call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= rule.most || !isRetriable(rule.of, error)) throw error;
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      if (asked > longestWait) throw error;
      // Jitter is added: the wait is never shorter than requested.
      const span = Math.max(asked, firstWait * 2 ** tries) * (1 + Math.random() / 2);
      await sleep(rule.timers, span, "retry", rule.signal);
    }
  }
}

function isRetriable(of: "read" | "write", error: unknown): boolean {
  if (error instanceof ConnectionError) return of === "read" && error.code !== "TIMEOUT";
  if (!(error instanceof ApiError)) return false;
  if (error.kind === "TooManyRequests") return true;
  return of === "read" && (error.kind === "ServerError" || error.kind === "Timeout");
}
