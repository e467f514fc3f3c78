/** Numbers that are the same for the same seed. */
export interface Random {
  /** From 0 to `count` - 1. */
  below(count: number): number;
  /** So many different ones. */
  pick<T>(from: readonly T[], count: number): readonly T[];
}

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const below = (count: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * count);
  };
  return {
    below,
    pick(from, count) {
      const places = new Set<number>();
      while (places.size < Math.min(count, from.length)) places.add(below(from.length));
      return [...places].flatMap((place) => from[place] ?? []);
    },
  };
}
