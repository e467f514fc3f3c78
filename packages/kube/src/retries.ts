import type { Milliseconds } from "@drover/controller";
import { ApiError, ConnectionError } from "./errors.ts";
import { pause, type Timers } from "@drover/timers";

export interface RetryRule {
  /** How often a call is repeated at most. */
  readonly most: number;
  /** Reads may be repeated after anything that passes; writes only where the server says that it did nothing. */
  readonly of: "read" | "write";
  readonly timers: Timers;
  readonly signal: AbortSignal | undefined;
}

/** A longer Retry-After than this is for the caller, who has a queue to put the work back in. */
const longestWait: Milliseconds = 5_000;
const firstWait: Milliseconds = 100;

/** Makes a call, and makes it again, never within a Retry-After, while the rule allows it. */
export async function repeated<T>(rule: RetryRule, call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= rule.most || !passes(rule.of, error)) throw error;
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      if (asked > longestWait) throw error;
      // Jitter on top, never below what was asked for.
      const span = Math.max(asked, firstWait * 2 ** tries) * (1 + Math.random() / 2);
      await pause(rule.timers, span, "retry", rule.signal);
    }
  }
}

function passes(of: "read" | "write", error: unknown): boolean {
  if (error instanceof ConnectionError) return of === "read" && error.code !== "TIMEOUT";
  if (!(error instanceof ApiError)) return false;
  if (error.kind === "TooManyRequests") return true;
  return of === "read" && (error.kind === "ServerError" || error.kind === "Timeout");
}
