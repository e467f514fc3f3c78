import { type Condition, ready, reconciling, stalled } from "@drover/controller";

const types: readonly string[] = [reconciling, stalled];

/** True for the conditions that kstatus evaluates. */
export const isAboutWork = ({ type }: Pick<Condition, "type">): boolean => types.includes(type);

/**
 * The conditions from which kstatus derives the state of an object of any kind, for Helm's `--wait` and Flux
 * (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus). Each is present only while it is True.
 *
 * - `Reconciling`: the object is not Ready yet; work is in progress, waits, or is retried.
 * - `Stalled`: the key is parked; a user or a change is needed.
 *
 * If a function reports one of them itself, none is added.
 */
export function workConditions(
  conditions: readonly Condition[],
  { parked }: { readonly parked: boolean },
): readonly Condition[] {
  const main = conditions.find(({ type }) => type === ready);
  if (main === undefined || main.status === "True" || conditions.some(isAboutWork)) return [];
  return [{ ...main, type: parked ? stalled : reconciling, status: "True" }];
}
