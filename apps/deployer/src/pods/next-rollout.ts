import type { ReconcileFunctionSpec } from "@drover/controller";
import type { FunctionContext } from "../objects/function-object.ts";
import { digest } from "../names.ts";
import type { ObservedPod } from "./observe-pods.ts";

type Rollout = NonNullable<FunctionContext["status"]["rollout"]>;

/** Fingerprint of the part of a spec that can keep a Pod from becoming Ready. */
const containerFingerprint = ({ container, delivery = "pull" }: ReconcileFunctionSpec): string =>
  digest([container, delivery]);

/**
 * True if a Pod with the function's present container has been Ready. As with Knative's `initial-scale`, one Pod is
 * started for an untried container even if no key is due: a missing image shows at deployment, and not with the first
 * object. A change of a password or the like does not make a container untried.
 */
export const isTried = ({ spec, status }: Pick<FunctionContext, "spec" | "status">): boolean =>
  status.rollout?.tried === containerFingerprint(spec);

/** The minimum number of Pods, whatever is due: one while the container is untried and the function is not paused. */
export const minPods = (
  one: Pick<FunctionContext, "spec" | "status">,
  { allPaused }: { readonly allPaused: boolean },
): number => (one.spec.container === undefined || allPaused || isTried(one) ? 0 : 1);

/**
 * The next `status.rollout`. A changed template makes a new revision, higher than that of any Pod. The status must
 * contain it before its first Pod is created.
 *
 * `complete` is the last revision that has taken over: its container is tried, and no older Pod was left that could run
 * a key.
 */
export function nextRollout(
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
  const rollout = isReady ? { ...known, tried: containerFingerprint(spec) } : known;
  const isComplete =
    rollout.tried === containerFingerprint(spec) && pods.every((pod) => pod.revision === revision);
  return isComplete ? { ...rollout, complete: revision } : rollout;
}
