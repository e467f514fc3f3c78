import type { Milliseconds } from "@drover/controller";

/** How many may pass. */
export interface TokenBucket {
  /** Whether one more may pass now. */
  take(): boolean;
}

/** @param now a clock that never goes back. */
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
