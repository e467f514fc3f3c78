/** The first step after which all was not as it is without the fault, and what was not. */
export interface Divergence {
  readonly step: number;
  readonly differences: readonly string[];
}
