/** One reader of strangers' bytes, at one of its worst inputs. `prepare` makes the input, which is not measured. */
export interface Measured {
  readonly name: string;
  readonly prepare: (bytes: number) => () => unknown;
  /** Left out: the usual ones. */
  readonly sizes?: Sizes;
}

export interface Ratio {
  readonly name: string;
  /** Processor time for the larger input, by that for the smaller one, in this run. */
  readonly ratio: number;
  readonly bytes: Sizes;
}

const KiB = 1_024;
/** The sizes that are compared. */
export type Sizes = readonly [small: number, large: number];
export const usualSizes: Sizes = [64 * KiB, 1_024 * KiB];
/** A listener lets no more than 16 KiB of headers in. */
export const headerSizes: Sizes = [KiB, 16 * KiB];
/** Input 16 times as large may cost 32 times as much: linear work, twice for caches and tables that grow. */
export const mostRatio = 32;
/** Work that grows by the square costs 256 times as much; half of that differs from linear work on a busy machine, too. */
export const squared = 128;

/** @param most a ratio up to which it is not measured again. */
export function ratioOf({ name, prepare, sizes = usualSizes }: Measured, most = mostRatio): Ratio {
  const [small, large] = sizes;
  // Found at smaller sizes, before it takes minutes.
  const early = lowest(prepare(small / 16), prepare(small), squared);
  if (early > squared) return { name, ratio: early, bytes: [small / 16, small] };
  return { name, ratio: lowest(prepare(small), prepare(large), most), bytes: sizes };
}

/** Measured again while it is too large: memory may have been collected meanwhile. Real growth stays. */
function lowest(small: () => unknown, large: () => unknown, most: number): number {
  let best = Infinity;
  for (let attempt = 0; attempt < 6 && best > 0.75 * most; attempt++) {
    best = Math.min(best, cost(large) / cost(small));
  }
  return best;
}

/** Shorter runs are seldom interrupted by other processes: the least of several is their time. */
const short = 0.5;
/** The processor time of a thread is counted in steps of some milliseconds: of so many, a step is little. */
const countable = 30_000;

/** Milliseconds of one run. For longer runs it is processor time, since others may keep the processor busy. */
function cost(run: () => unknown): number {
  let least = Infinity;
  for (let i = 0; i < 10; i++) {
    const begun = performance.now();
    run();
    least = Math.min(least, performance.now() - begun);
    if (i === 2 && least > short) break;
  }
  return least > short ? Math.min(least, processorTime(run)) : least;
}

function processorTime(run: () => unknown): number {
  const begun = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    run();
    const { user, system } = process.threadCpuUsage(begun);
    if (user + system >= countable) return (user + system) / 1_000 / runs;
  }
}
