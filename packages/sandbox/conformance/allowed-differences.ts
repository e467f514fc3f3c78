/** A difference that is meant to be there. */
export interface Allowed {
  /** Which requests, as `METHOD /path?query`. */
  readonly request: RegExp;
  /** Where in the answer. */
  readonly path: RegExp;
  readonly reason: string;
}

/** All of them. One that no case meets any more fails the suite. */
export const allowedDifferences: readonly Allowed[] = [];
