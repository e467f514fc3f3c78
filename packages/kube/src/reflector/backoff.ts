import type { Milliseconds } from "@drover/controller";

/** A reconnect at most every second, whatever happens. */
export const shortestGap: Milliseconds = 1_000;

/**
 * Where growing waits end. What passes by itself is tried again soon enough to have caught up within five seconds of
 * its healing; what waits for somebody to act, or fails in a way that a retry seldom mends, costs the server less.
 */
export const longestBackoff = { passing: 4_000, lasting: 30_000 } as const;

/**
 * The wait after a number of failures in a row: doubled each time, the upper half of it random, so that streams that
 * failed together do not come back together.
 *
 * @param random from 0 to 1.
 */
export function backoff(failures: number, longest: Milliseconds, random: number): Milliseconds {
  const full = Math.min(longest, shortestGap * 2 ** Math.max(0, Math.min(failures, 16) - 1));
  return full / 2 + (full / 2) * random;
}
