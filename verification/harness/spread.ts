/** A figure over repeated rounds: on a shared machine a single one means little. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** @throws RangeError for an empty list. */
export const spread = (figures: readonly number[]): Spread => ({
  min: percentile(figures, 0),
  median: median(figures),
  max: percentile(figures, 100),
});

/** For an even number, the mean of the two in the middle: the lower one would flatter. */
function median(figures: readonly number[]): number {
  const ofNegative = percentile(
    figures.map((figure) => -figure),
    50,
  );
  return (percentile(figures, 50) - ofNegative) / 2;
}

/**
 * The smallest figure that at least `percent` of all figures do not exceed (nearest rank).
 * @throws RangeError for an empty list.
 */
export function percentile(figures: readonly number[], percent: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const figure = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (figure === undefined) throw new RangeError("There is no percentile of no figures.");
  return figure;
}

/** `p50 ..., p99 ..., longest ... ms of N`; `none` for no times. */
export function timesLine(times: readonly number[]): string {
  if (times.length === 0) return "none";
  const at = (percent: number): string => percentile(times, percent).toFixed(0);
  return `p50 ${at(50)}, p99 ${at(99)}, longest ${at(100)} ms of ${times.length}`;
}
