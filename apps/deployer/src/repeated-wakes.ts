import type { Milliseconds, ObjectKey } from "@drover/controller";

/** What each key was last woken for, and when it is woken for that again. */
export interface RepeatedWakes {
  /** Whether to wake it for `what` now. */
  isDue(key: ObjectKey, what: string, now: Milliseconds): boolean;
  /** It has come to what it was woken for, or is gone. */
  settled(key: ObjectKey): void;
}

const first: Milliseconds = 250;
const longest: Milliseconds = 60_000;

/**
 * A run that is woken for a decision comes to it, as a rule. Where it does not, it is woken for it again after times that
 * double: at once, because it may have read other figures; later seldom, because it may be a function that is refused.
 */
export function repeatedWakes(): RepeatedWakes {
  const woken = new Map<ObjectKey, { what: string; at: Milliseconds; wait: Milliseconds }>();
  return {
    isDue(key, what, now) {
      const last = woken.get(key);
      const isNews = last?.what !== what;
      if (!isNews && now < last.at + last.wait) return false;
      woken.set(key, { what, at: now, wait: isNews ? first : Math.min(longest, last.wait * 2) });
      return true;
    },
    settled: (key) => void woken.delete(key),
  };
}
