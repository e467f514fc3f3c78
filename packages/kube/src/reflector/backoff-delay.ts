import type { Milliseconds } from "@drover/controller";

/** At most one reconnect per second, in every case. */
export const shortestGap: Milliseconds = 1_000;

/**
 * Upper limits of the backoff. A `passing` failure ends by itself: it is retried often enough for the stream to catch
 * up within five seconds after that. A `lasting` one needs an operator, or is seldom cured by a retry: it is retried
 * less often, to spare the server.
 */
export const longestBackoff = { passing: 4_000, lasting: 30_000 } as const;

/**
 * The wait after a number of failures in a row. It is doubled each time, and its upper half is random, so that streams
 * that failed together do not reconnect together.
 *
 * @param random from 0 to 1.
 */
export function backoffDelay(failures: number, longest: Milliseconds, random: number): Milliseconds {
  const full = Math.min(longest, shortestGap * 2 ** Math.max(0, Math.min(failures, 16) - 1));
  return full / 2 + (full / 2) * random;
}
