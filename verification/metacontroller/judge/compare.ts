import { equal } from "../../../packages/sandbox/src/json.ts";
import type { Expected } from "../histories/expected.ts";
import { type Allowed, allowedDifferences, type Difference } from "./allowed-differences.ts";
import type { State } from "./canonical.ts";

/** All fields in which two states differ. */
export function differences(reference: State, subject: State): readonly Difference[] {
  const children = [...new Set([...reference.keys(), ...subject.keys()])];
  return children.flatMap((child) => {
    const [one, other] = [reference.get(child), subject.get(child)];
    const paths = [...new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])])];
    return paths
      .map((path) => ({ child, path, reference: one?.get(path), subject: other?.get(path) }))
      .filter((each) => !equal(each.reference, each.subject));
  });
}

/** The differences that are not allowed. `met` counts the states with one that is, for each reason. */
export function unexplained(
  found: readonly Difference[],
  expected: Expected,
  met: Map<Allowed, number>,
): readonly Difference[] {
  const used = new Set<Allowed>();
  const left = found.filter((difference) => {
    const allowed = allowedDifferences.find((one) => one.covers(difference, expected));
    if (allowed !== undefined) used.add(allowed);
    return allowed === undefined;
  });
  for (const one of used) met.set(one, (met.get(one) ?? 0) + 1);
  return left;
}

/** Differences for people. */
export const described = (found: readonly Difference[]): string =>
  found
    .map(
      ({ child, path, reference, subject }) =>
        `   ${child} ${path}: ${text(reference)} with the reference, ${text(subject)} with the subject`,
    )
    .join("\n");

const text = (value: Difference["reference"]): string =>
  value === undefined ? "nothing" : JSON.stringify(value).slice(0, 300);
