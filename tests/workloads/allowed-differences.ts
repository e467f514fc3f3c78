/** A difference that is meant to be there. */
export interface Allowed {
  /** Where in the state. */
  readonly path: RegExp;
  /** What kube-controller-manager's state says there. */
  readonly reference?: RegExp;
  readonly reason: string;
}

/** All of them, none for now. One that no sequence meets any more fails a run of 100 sequences or more. */
export const allowedDifferences: readonly Allowed[] = [];
