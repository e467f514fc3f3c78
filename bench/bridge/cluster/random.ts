import { pseudoRandom } from "@drover/fault-proxy";

/** Numbers that are the same for the same seed. */
export interface Random {
  /** From 0 to `count` - 1. */
  below(count: number): number;
  /** So many different ones. */
  pick<T>(from: readonly T[], count: number): readonly T[];
}

export function seeded(seed: number): Random {
  const { fraction } = pseudoRandom(seed);
  const below = (count: number): number => Math.floor(fraction() * count);
  return {
    below,
    pick(from, count) {
      const places = new Set<number>();
      while (places.size < Math.min(count, from.length)) places.add(below(from.length));
      return [...places].flatMap((place) => from[place] ?? []);
    },
  };
}
