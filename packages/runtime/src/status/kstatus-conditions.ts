import { type Condition, readyCondition, reconcilingCondition, stalledCondition } from "@drover/controller";

const types: readonly string[] = [reconcilingCondition, stalledCondition];

/** True for the conditions that kstatus evaluates. */
export const isKstatusCondition = ({ type }: Pick<Condition, "type">): boolean => types.includes(type);

/**
 * The conditions from which kstatus derives the state of an object of any kind, for Helm's `--wait` and Flux
 * (https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus). Each is present only while it is True.
 *
 * - `Reconciling`: the object is not Ready yet; work is in progress, waits, or is retried.
 * - `Stalled`: the key is parked; a user or a change is needed.
 *
 * If a function reports one of them itself, none is added.
 */
export function kstatusConditions(
  conditions: readonly Condition[],
  { parked }: { readonly parked: boolean },
): readonly Condition[] {
  const main = conditions.find(({ type }) => type === readyCondition);
  if (main === undefined || main.status === "True" || conditions.some(isKstatusCondition)) return [];
  return [{ ...main, type: parked ? stalledCondition : reconcilingCondition, status: "True" }];
}
