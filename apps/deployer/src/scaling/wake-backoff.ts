import type { Milliseconds, ObjectKey } from "@drover/controller";

/** The decision for which each key was last woken, and when it may be woken for it again. */
export interface WakeBackoff {
  /** True if the key is to be woken now for the decision `what`. Records that it is woken. */
  isDue(key: ObjectKey, what: string, now: Milliseconds): boolean;
  /** Forgets a key: its run has made the decision, or its function is gone. */
  forget(key: ObjectKey): void;
}

const first: Milliseconds = 250;
const longest: Milliseconds = 60_000;

/**
 * A run that is woken for a decision normally makes it. If it does not, the key is woken again, after intervals that
 * double: soon at first, because the run may have read other counts; seldom later, because the function may be refused.
 */
export function wakeBackoff(): WakeBackoff {
  const woken = new Map<ObjectKey, { what: string; at: Milliseconds; wait: Milliseconds }>();
  return {
    isDue(key, what, now) {
      const last = woken.get(key);
      const isNews = last?.what !== what;
      if (!isNews && now < last.at + last.wait) return false;
      woken.set(key, { what, at: now, wait: isNews ? first : Math.min(longest, last.wait * 2) });
      return true;
    },
    forget: (key) => void woken.delete(key),
  };
}
