import { now } from "../../../verification/harness/clock.ts";
import { type Memory, memoryOf } from "../../report/process-figures.ts";

/** The memory of some processes at one moment. */
export interface Sample {
  /** ms of the monotonic clock. */
  readonly at: number;
  readonly of: Readonly<Record<string, Memory>>;
}

export interface MemoryWatch {
  readonly samples: readonly Sample[];
  stop(): void;
}

/** Looks at processes, by name, until it is stopped. */
export function watchMemory(pids: Readonly<Record<string, number>>, every: number): MemoryWatch {
  const samples: Sample[] = [];
  const look = (): void => {
    const of = Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, memoryOf(pid)]));
    samples.push({ at: now(), of });
  };
  look();
  const timer = setInterval(look, every);
  return {
    samples,
    stop() {
      clearInterval(timer);
      look();
    },
  };
}

/** Several processes taken together, in each sample. */
export const together = (samples: readonly Sample[], names: readonly string[]): readonly Memory[] =>
  samples.map(({ of }) => ({
    rss: names.reduce((sum, name) => sum + (of[name]?.rss ?? 0), 0),
    pss: names.reduce((sum, name) => sum + (of[name]?.pss ?? 0), 0),
  }));

/** The highest of each figure; 0 for no samples. */
export const peakOf = (samples: readonly Memory[]): Memory => ({
  rss: Math.max(0, ...samples.map(({ rss }) => rss)),
  pss: Math.max(0, ...samples.map(({ pss }) => pss)),
});
