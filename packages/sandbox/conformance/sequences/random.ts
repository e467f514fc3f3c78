import { pseudoRandom } from "@drover/fault-proxy";

/** Random draws that a seed repeats. */
export interface Random {
  /** An integer from 0 to `n - 1`. */
  below(n: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** True `percent` times in a hundred. */
  chance(percent: number): boolean;
}

export function seeded(seed: number): Random {
  const { fraction } = pseudoRandom(seed);
  const below = (n: number): number => Math.floor(fraction() * n);
  return {
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    chance: (percent) => below(100) < percent,
  };
}
