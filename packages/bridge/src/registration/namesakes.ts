import { resourceNameOf } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import type { Follow } from "../mapping/follows-of.ts";
import type { RegisteredFunction } from "./registration.ts";

/**
 * Functions of one name for the same objects would share their finalizer and their field manager: each would finalize for
 * the other, and take away the other's fields. The first keeps its registration, the others get a problem.
 *
 * Functions of one name may share a kind, if their `namespaces` or their label selectors differ. The problem does not
 * name the other function: its author may not be allowed to read that namespace.
 *
 * @param functions the oldest first.
 */
export function refuseNamesakes(functions: readonly RegisteredFunction[]): readonly RegisteredFunction[] {
  const registered = new Map<string, Follow[]>();
  return functions.map((one) => {
    const itself = one.registration?.follows.find(({ subscription }) => subscription.ownFinalizer);
    if (itself === undefined) return one;
    const alike = `${itself.subscription.ownFinalizer} ${resourceNameOf(itself.ref)}`;
    const others = registered.get(alike) ?? [];
    if (others.some((other) => mayOverlap(itself, other)))
      return { key: one.key, object: one.object, problem: problemOf(one, itself) };
    registered.set(alike, [...others, itself]);
    return one;
  });
}

const problemOf = ({ object }: RegisteredFunction, { ref }: Follow): string =>
  `An older ReconcileFunction with the name ${object.metadata.name}, in another namespace, is for the same objects ` +
  `(${resourceNameOf(ref)}). Both would use the same finalizer and the same field manager. Create this one under another ` +
  "name, or set for.namespaces in both so that no namespace is in both.";

/** False if no object can be one of both functions, which are for the same kind. */
function mayOverlap({ subscription: one }: Follow, { subscription: other }: Follow): boolean {
  return (
    overlap(one.namespaces, other.namespaces) &&
    (one.selector === undefined ||
      other.selector === undefined ||
      isDeepStrictEqual(one.selector, other.selector))
  );
}

/** Undefined stands for all namespaces. */
const overlap = (a: readonly string[] | undefined, b: readonly string[] | undefined): boolean =>
  a === undefined || b === undefined || a.some((one) => b.includes(one));
