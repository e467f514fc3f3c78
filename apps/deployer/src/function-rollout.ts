import type { FunctionContext } from "./function-objects.ts";
import type { ObservedPod } from "./observe-pods.ts";

type Rollout = NonNullable<FunctionContext["status"]["rollout"]>;

/**
 * What Pods are made after now. Another template is a new revision, newer than any Pod that there is; it is to be in the
 * status before the first Pod of it is made.
 *
 * `complete` is the last revision that has taken over: no older Pod was left that could run a key.
 */
export function rolloutOf(
  known: Rollout | undefined,
  template: string,
  pods: readonly ObservedPod[],
): Rollout {
  if (known?.template === template) {
    const isComplete = pods.every(({ revision }) => revision === known.revision);
    return isComplete ? { ...known, complete: known.revision } : known;
  }
  const revision = Math.max(known?.revision ?? 0, ...pods.map((pod) => pod.revision)) + 1;
  return { ...known, revision, template };
}
