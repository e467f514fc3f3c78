import type { Milliseconds } from "@drover/controller";

/** A rate limit with bursts. */
export interface TokenBucket {
  /** Takes a token. Returns false if none is left. */
  take(): boolean;
}

/** @param now a monotonic clock. */
export function tokenBucket(
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
  now: () => Milliseconds,
): TokenBucket {
  let tokens = burst;
  let at = now();
  return {
    take() {
      const later = now();
      tokens = Math.min(burst, tokens + ((later - at) / 1_000) * perSecond);
      at = later;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
