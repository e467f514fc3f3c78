import { random } from "@drover/fault-proxy";

/** Draws that a seed repeats. */
export interface Random {
  /** A whole number from 0 to below `n`. */
  below(n: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** True `percent` times in a hundred. */
  chance(percent: number): boolean;
}

export function seeded(seed: number): Random {
  const { fraction } = random(seed);
  const below = (n: number): number => Math.floor(fraction() * n);
  return {
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    chance: (percent) => below(100) < percent,
  };
}
