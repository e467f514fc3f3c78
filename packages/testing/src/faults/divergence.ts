/** The first step after which the state differs from the run without faults, and the differences. */
export interface Divergence {
  readonly step: number;
  readonly differences: readonly string[];
}
