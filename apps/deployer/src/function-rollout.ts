import type { ReconcileFunctionSpec } from "@drover/controller";
import type { FunctionContext } from "./function-objects.ts";
import { digest } from "./names.ts";
import type { ObservedPod } from "./observe-pods.ts";

type Rollout = NonNullable<FunctionContext["status"]["rollout"]>;

/** The part of a spec that can keep a Pod from becoming Ready. */
const containerOf = ({ container, delivery = "pull" }: ReconcileFunctionSpec): string =>
  digest([container, delivery]);

/**
 * Whether a Pod of the container that a function has now was Ready once. As with Knative's `initial-scale`, one Pod is
 * started for a container that was not tried, though nothing is due: an image that does not exist shows when it is
 * deployed, and not with the first object. Passwords and the like change too, and have nothing tried anew.
 */
export const isTried = ({ spec, status }: Pick<FunctionContext, "spec" | "status">): boolean =>
  status.rollout?.tried === containerOf(spec);

/** The least Pods that a function has, whatever is due: one for as long as its container is to be tried. */
export const leastPods = (
  one: Pick<FunctionContext, "spec" | "status">,
  { allPaused }: { readonly allPaused: boolean },
): number => (one.spec.container === undefined || allPaused || isTried(one) ? 0 : 1);

/**
 * What Pods are made after now. Another template is a new revision, newer than any Pod that there is; it is to be in the
 * status before the first Pod of it is made.
 *
 * `complete` is the last revision that has taken over: its container is tried, and no older Pod was left that could run a key.
 */
export function rolloutOf(
  { spec, status: { rollout: known } }: Pick<FunctionContext, "spec" | "status">,
  template: string,
  pods: readonly ObservedPod[],
): Rollout {
  if (known?.template !== template) {
    const revision = Math.max(known?.revision ?? 0, ...pods.map((pod) => pod.revision)) + 1;
    return { ...known, revision, template };
  }
  const { revision } = known;
  const isReady = pods.some((pod) => pod.revision === revision && pod.ready);
  const rollout = isReady ? { ...known, tried: containerOf(spec) } : known;
  const isComplete = rollout.tried === containerOf(spec) && pods.every((pod) => pod.revision === revision);
  return isComplete ? { ...rollout, complete: revision } : rollout;
}
