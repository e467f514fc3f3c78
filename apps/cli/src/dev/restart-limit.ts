/** Slows down restarts for a file that the function itself may write: without that they would follow each other for ever. */
export interface RestartLimit {
  /** The function was started, or could not be. */
  started(): void;
  /** How long to wait before a restart for these files, ms. */
  delayFor(changed: readonly string[]): number;
}

/** A change this soon after a start may be the function's own, ms. */
const soon = 2_000;
/** So many of them in a row are not delayed: a person may be quick, too. */
const free = 4;
const longest = 30_000;

/**
 * @param now ms.
 * @param onSlow is called when a file begins to delay restarts.
 */
export function restartLimit(now: () => number, onSlow: (file: string) => void): RestartLimit {
  const counts = new Map<string, number>();
  let since = -Infinity;
  return {
    started: () => void (since = now()),
    delayFor(changed) {
      const isSoon = now() - since < soon;
      const delays = changed.map((file) => {
        const count = isSoon ? (counts.get(file) ?? 0) + 1 : 0;
        counts.set(file, count);
        if (count === free + 1) onSlow(file);
        return count > free ? Math.min(soon * 2 ** (count - free - 1), longest) : 0;
      });
      return Math.max(0, ...delays);
    },
  };
}
