/** How much is measured. Times in ms. */
export interface Plan {
  readonly objects: number;
  /** Of a restart: changed while nobody was there. */
  readonly changedMeanwhile: number;
  /** Changes of a reaction, and the time between two. */
  readonly reactions: number;
  readonly every: number;
}

export const full: Plan = { objects: 3_000, changedMeanwhile: 10, reactions: 1_700, every: 25 };
/** Shows that it works; its figures say little. */
export const little: Plan = { objects: 200, changedMeanwhile: 10, reactions: 100, every: 25 };
