import type { Log, Milliseconds } from "@drover/controller";

/**
 * Logs a warning about `what` at most once in an interval, with the number of warnings that were left out since the
 * last one.
 */
export type ThrottledWarnings = (what: string, fields: object, message: string) => void;

/** @param every shortest time between two warnings with the same `what`, which must be one of a few values. */
export function throttledWarnings(log: Log, every: Milliseconds, now: () => Milliseconds): ThrottledWarnings {
  const last = new Map<string, { at: Milliseconds; unsaid: number }>();
  return (what, fields, message) => {
    const before = last.get(what);
    if (before !== undefined && now() - before.at < every) {
      before.unsaid++;
      return;
    }
    last.set(what, { at: now(), unsaid: 0 });
    log.warn(
      { ...fields, ...(before !== undefined && before.unsaid > 0 && { unsaid: before.unsaid }) },
      message,
    );
  };
}
