/** How much is measured. Times in ms. */
export interface Plan {
  readonly objects: number;
  /** Objects changed while no controller runs, before a restart. */
  readonly changedMeanwhile: number;
  /** Changes of a reaction, and the time between two. */
  readonly reactions: number;
  readonly every: number;
  /** Untimed changes before that, at the same pace: after 3,000 runs the code of a peer is compiled. */
  readonly warmUp: number;
  /** Of slow work: so many objects, how long each waits for something outside, and for how many a process does so at once. */
  readonly slowObjects: number;
  readonly workMs: number;
  readonly slowWorkers: number;
  /** At once in one process, of all else. */
  readonly workers: number;
}

export const full: Plan = {
  objects: 3_000,
  changedMeanwhile: 10,
  reactions: 1_700,
  every: 25,
  warmUp: 400,
  // One at a time: the sum of processes is measured, and two cores are too few for more.
  slowObjects: 400,
  workMs: 50,
  slowWorkers: 1,
  workers: 16,
};
/** So many without failures, and so many beside them. */
export const failingReactions = 800;
/** Shows that it works; its figures mean little. */
export const little: Plan = { ...full, objects: 200, reactions: 100, warmUp: 50, slowObjects: 40 };
