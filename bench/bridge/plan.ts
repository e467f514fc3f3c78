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
  /** Picks the objects that are changed while no controller runs. */
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

/** A smaller plan: shows that everything works, with figures that mean little. */
export const withObjects = (objects: number): Plan => ({
  ...full,
  objects,
  settle: 10_000,
  recordedObjects: Math.min(full.recordedObjects, objects),
  frames: Math.min(full.frames, 2 * objects),
  rounds: 1,
  steadyObjects: Math.min(full.steadyObjects, Math.max(objects, 4_000)),
});

/** The input of every question. */
export interface Stage {
  readonly plan: Plan;
  /** The Go program. */
  readonly program: string;
  /** The bridge's main module: its sources, or a bundle. */
  readonly bridge: string;
  readonly progress: (line: string) => void;
}
