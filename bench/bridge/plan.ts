/** How much is measured, and for how long. Times in ms. */
export interface Plan {
  /** Of the first question: so many Widgets, in ten namespaces. */
  readonly objects: number;
  /** Without a run for so long, a process has settled. */
  readonly settle: number;
  /** Objects and watch frames of a recording, and how often it is played to each. */
  readonly recordedObjects: number;
  readonly frames: number;
  readonly rounds: number;
  /** Steady changes: of so many objects, so many a second. Their quotient is longer than any lag worth reporting. */
  readonly steadyObjects: number;
  readonly changesPerSecond: number;
  readonly steadyFor: number;
  /** Which objects are changed while everybody is down. */
  readonly seed: number;
}

export const full: Plan = {
  objects: 100_000,
  settle: 30_000,
  recordedObjects: 5_000,
  frames: 30_000,
  rounds: 3,
  steadyObjects: 10_000,
  changesPerSecond: 400,
  steadyFor: 60_000,
  seed: 1,
};

/** What is smaller with fewer objects: shows that everything works, and figures that say little. */
export const withObjects = (objects: number): Plan => ({
  ...full,
  objects,
  settle: 10_000,
  recordedObjects: Math.min(full.recordedObjects, objects),
  frames: Math.min(full.frames, 2 * objects),
  rounds: 1,
  steadyObjects: Math.min(full.steadyObjects, Math.max(objects, 4_000)),
});

/** What every question is given. */
export interface Stage {
  readonly plan: Plan;
  /** The Go program. */
  readonly program: string;
  /** What is started as the bridge: its sources, or a bundle. */
  readonly bridge: string;
  readonly progress: (line: string) => void;
}
