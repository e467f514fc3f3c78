/** Pseudo-random numbers, the same for the same seeds. Schedules are made with them. */
export interface PseudoRandom {
  /** In [0, 1). */
  readonly fraction: () => number;
  /** An integer, both ends included. */
  readonly between: (from: number, to: number) => number;
  /** An integer from 0 to `end` - 1. */
  readonly below: (end: number) => number;
  readonly chance: (probability: number) => boolean;
  /** @throws Error if there are no choices. */
  readonly oneOf: <T>(choices: readonly [T, ...T[]] | readonly T[]) => T;
  /** This many of the choices, each once at most, in random order. */
  readonly some: <T>(choices: readonly T[], count: number) => T[];
}

/**
 * mulberry32 (Tommy Ettinger). The seeds are mixed first, so that neighbouring seeds do not begin with similar numbers.
 */
export function pseudoRandom(...seeds: readonly number[]): PseudoRandom {
  let state = seeds.reduce((mixed, seed) => Math.imul(mixed ^ seed, 0x9e3779b1) ^ (mixed >>> 15), 0x6a09e667);
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(fraction() * end);
  const between = (from: number, to: number): number => from + below(to - from + 1);
  return {
    fraction,
    between,
    below,
    chance: (probability) => fraction() < probability,
    oneOf(choices) {
      const at = below(choices.length);
      for (const chosen of choices.slice(at, at + 1)) return chosen;
      throw new Error("There is nothing to choose from.");
    },
    some(choices, count) {
      const left = [...choices];
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(below(left.length), 1),
      ).flat();
    },
  };
}
