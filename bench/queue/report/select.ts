import { type ContenderName, contenderNames } from "../contenders/contender.ts";
import { spread, type Spread } from "../../../verification/harness/spread.ts";

/** The spread of a figure over the rounds; undefined where it was not measured. */
export function spreadOf<F>(
  figures: readonly F[],
  which: (f: F) => boolean,
  what: (f: F) => number,
): Spread | undefined {
  const found = figures.filter((figure) => which(figure)).map((figure) => what(figure));
  return found.length === 0 ? undefined : spread(found);
}

/** One answer per contender, in their order. */
export const perContender = <T>(answer: (name: ContenderName) => T): T[] =>
  contenderNames.map((name) => answer(name));

/** The different values of a field, in the order in which they came. */
export const distinct = <F, T>(figures: readonly F[], of: (f: F) => T): T[] => [
  ...new Set(figures.map((f) => of(f))),
];
