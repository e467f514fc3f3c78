/** Draws that a seed repeats. */
export interface Random {
  /** A whole number from 0 to below `n`. */
  below(n: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** True `percent` times in a hundred. */
  chance(percent: number): boolean;
}

/** Mulberry32: small, and good enough to choose among requests. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    chance: (percent) => below(100) < percent,
  };
}
