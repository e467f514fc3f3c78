import { type Condition, ready, reconciling, stalled } from "@drover/controller";

const types: readonly string[] = [reconciling, stalled];

/** Whether a condition is of those by which kstatus judges. */
export const isAboutWork = ({ type }: Pick<Condition, "type">): boolean => types.includes(type);

/**
 * The conditions by which kstatus judges an object of any kind, and so Helm's `--wait` and Flux do
 * (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus): each is there only while it is True.
 *
 * - `Reconciling`: it is not Ready yet; work is under way, is waited for, or is tried again.
 * - `Stalled`: it is parked; a person or a change is needed.
 *
 * A function that states one of them itself has said it.
 */
export function workConditions(
  conditions: readonly Condition[],
  { parked }: { readonly parked: boolean },
): readonly Condition[] {
  const main = conditions.find(({ type }) => type === ready);
  if (main === undefined || main.status === "True" || conditions.some(isAboutWork)) return [];
  return [{ ...main, type: parked ? stalled : reconciling, status: "True" }];
}
