import { percentile } from "../../../verification/harness/spread.ts";

/** A change of a key. Times are ms of the monotonic clock. */
export interface Change {
  readonly key: string;
  readonly sent: number;
  readonly answered: number;
}

/** From each change's sending to the first time that its key was seen after it; NaN where it was not. */
export function lagsOf(
  changes: readonly Change[],
  seen: ReadonlyMap<string, readonly number[]>,
): readonly number[] {
  return changes.map(({ key, sent }) => {
    const times = seen.get(key) ?? [];
    return (times[firstAfter(times, sent)] ?? NaN) - sent;
  });
}

/** The place of the first of these ascending numbers that is greater. */
function firstAfter(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? Infinity) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface LagFigures {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Changes that were never seen. */
  readonly lost: number;
}

export function lagFigures(lags: readonly number[]): LagFigures {
  const known = lags.filter((lag) => !Number.isNaN(lag));
  const of = (percent: number): number => (known.length === 0 ? NaN : percentile(known, percent));
  return { p50: of(50), p99: of(99), max: of(100), lost: lags.length - known.length };
}
