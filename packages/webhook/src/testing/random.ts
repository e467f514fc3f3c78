import { pseudoRandom } from "@drover/fault-proxy";

/** Random choices that a seed repeats. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
}

export function seededRandom(seed: number): Random {
  const { fraction: next } = pseudoRandom(seed);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    pick(from) {
      const one = from.map((value) => ({ value }))[below(from.length)];
      if (one === undefined) throw new Error("Nothing to pick from.");
      return one.value;
    },
  };
}
