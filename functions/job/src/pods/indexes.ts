/** A set of completion indexes: ranges in order, with a gap between each two. */
export type Indexes = readonly IndexRange[];

interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** Indexes, in any order. */
export const indexesFrom = (all: Iterable<number>): Indexes =>
  union(
    [...new Set(all)].sort((a, b) => a - b).map((index) => ({ first: index, last: index })),
    [],
  );

/** All indexes of both. */
export function union(a: Indexes, b: Indexes): Indexes {
  const result: { first: number; last: number }[] = [];
  for (const range of [...a, ...b].sort((one, other) => one.first - other.first)) {
    const end = result.at(-1);
    if (end === undefined || range.first > end.last + 1) result.push({ ...range });
    else end.last = Math.max(end.last, range.last);
  }
  return result;
}

export const countOf = (indexes: Indexes): number =>
  indexes.reduce((sum, { first, last }) => sum + last - first + 1, 0);

export const hasIndex = (indexes: Indexes, index: number): boolean =>
  indexes.some(({ first, last }) => first <= index && index <= last);

/** How many indexes are in both. */
export function countOfBoth(a: Indexes, b: Indexes): number {
  let [count, at] = [0, 0];
  for (const { first, last } of a)
    for (let other = b[at]; other !== undefined && other.first <= last; other = b[at]) {
      count += Math.max(0, Math.min(last, other.last) - Math.max(first, other.first) + 1);
      if (other.last > last) break;
      at += 1;
    }
  return count;
}

/** The first indexes below `completions` that are in none of these. */
export function firstMissing(indexes: Indexes, count: number, completions: number): readonly number[] {
  const missing: number[] = [];
  let next = 0;
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; next < Math.min(first, completions) && missing.length < count; next++) missing.push(next);
    next = Math.max(next, last + 1);
  }
  return missing;
}

/** As `status.completedIndexes` has them: `1,3-5,7`. Two neighbours are written as `1,2`. */
export const writeIndexes = (indexes: Indexes): string =>
  indexes
    .map(({ first, last }) => {
      if (first === last) return String(first);
      return `${first}${last === first + 1 ? "," : "-"}${last}`;
    })
    .join(",");

const rangePattern = /^(\d+)(?:-(\d+))?$/;

/** Reads what `writeIndexes` has written. Leaves out ranges that are none, and indexes from `completions` on. */
export function readIndexes(text: string, completions: number): Indexes {
  const ranges = text.split(",").flatMap((part) => {
    const [, begin, end = begin] = rangePattern.exec(part) ?? [];
    const range = { first: Number(begin), last: Math.min(Number(end), completions - 1) };
    return range.first <= range.last ? [range] : [];
  });
  return union(ranges, []);
}
