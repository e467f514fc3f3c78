/** Ours to theirs, round by round; NaN for a round that they did not take part in. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((one, round) => one / (theirs[round] ?? NaN));
