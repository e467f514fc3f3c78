import type { Milliseconds } from "@drover/controller";

/** Limits the writes that each object may cause: a burst, and then one per interval, as in client-go's spam filter. */
export interface SpamFilter {
  /** Takes one of an object's writes; false if it has none left now. */
  take(uid: string, now: Milliseconds): boolean;
}

export const burst = 25;
export const refillEvery: Milliseconds = 5 * 60_000;

interface Bucket {
  readonly left: number;
  readonly at: Milliseconds;
}

/** @param most objects in memory; beyond that, the one without a write for the longest time is dropped. */
export function spamFilter(most: number): SpamFilter {
  const buckets = new Map<string, Bucket>();
  return {
    take: (uid, now) => {
      const { left, at } = buckets.get(uid) ?? { left: burst, at: now };
      const filled = Math.min(burst, left + (now - at) / refillEvery);
      const granted = filled >= 1;
      // Moved to the end: a Map keeps the order of insertion.
      buckets.delete(uid);
      buckets.set(uid, { left: granted ? filled - 1 : filled, at: now });
      const [oldest] = buckets.keys();
      if (buckets.size > most && oldest !== undefined) buckets.delete(oldest);
      return granted;
    },
  };
}
