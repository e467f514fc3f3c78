/** One reader of strangers' bytes, at one of its worst inputs. `prepare` makes the input, which is not measured. */
export interface Measured {
  readonly name: string;
  readonly prepare: (bytes: number) => () => unknown;
}

export interface Ratio {
  readonly name: string;
  /** Processor time for the larger input, by that for the smaller one, in this run. */
  readonly ratio: number;
  readonly bytes: readonly [number, number];
}

const KiB = 1_024;
/** Smaller sizes first: work that grows by the square is found before it would take minutes. */
export const usualSizes = [4 * KiB, 64 * KiB, 1_024 * KiB] as const;
/** Input 16 times as large may cost 32 times as much: linear work, twice for caches and tables that grow. */
export const mostRatio = 32;

/** The larger of the ratios between neighbouring sizes; the first that is too large ends it. */
export function ratioOf(
  { name, prepare }: Measured,
  sizes: readonly number[] = usualSizes,
  most = mostRatio,
): Ratio {
  let worst: Ratio = { name, ratio: 0, bytes: [0, 0] };
  let small = sizes[0] ?? KiB;
  for (const large of sizes.slice(1)) {
    const ratio = lowest(prepare(small), prepare(large), most);
    if (ratio > worst.ratio) worst = { name, ratio, bytes: [small, large] };
    if (ratio > most) break;
    small = large;
  }
  return worst;
}

/** Measured again while it is too large: memory may have been collected meanwhile. Real growth stays. */
function lowest(small: () => unknown, large: () => unknown, most: number): number {
  let best = Infinity;
  for (let attempt = 0; attempt < 6 && best > most; attempt++) {
    best = Math.min(best, cost(large, 2) / cost(small, 3));
  }
  return best;
}

/**
 * Microseconds of this thread's processor time that one run takes: the least of several rounds, each long enough to be
 * counted. Other processes, which may keep the processor busy, are not counted.
 */
function cost(run: () => unknown, rounds: number): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    let runs = 0;
    const begun = process.threadCpuUsage();
    let spent: number;
    do {
      run();
      runs++;
      const { user, system } = process.threadCpuUsage(begun);
      spent = user + system;
    } while (spent < 300);
    least = Math.min(least, spent / runs);
  }
  return least;
}
