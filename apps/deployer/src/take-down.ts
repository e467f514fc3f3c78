import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./change-pods.ts";
import { takeLogins } from "./delivered.ts";
import type { FunctionContext } from "./function-objects.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
import { dropStaleRoles } from "./stale-roles.ts";
import type { Step } from "./step.ts";

/** Whether there is anything of it in the cluster: its last template is forgotten when there is not. */
export const isDeployed = ({ rollout }: FunctionContext["status"]): boolean =>
  (rollout?.template ?? "") !== "";

/** It has no container any more: its Pods go. Revisions go on from here. */
export async function withdraw(step: Step, pods: readonly ObservedPod[]) {
  const { status } = step.context;
  await dropPods(step, pods);
  if (pods.length > 0 || !isDeployed(status)) return status.rollout;
  return { ...status.rollout, revision: status.rollout?.revision ?? 0, template: "" };
}

/**
 * Pods first, so that runs under way end with all that they need; then what has no owner in the cluster; then its Redis user,
 * and when nobody can write as that any more, its keys. Any of these steps may be repeated.
 */
export async function takeDown(step: Step): Promise<void> {
  const { context, home, client, queues, keys } = step;
  const { signal, spec } = context;
  const pods = await observePods(client, home, signal);
  if (pods.length > 0) {
    await dropPods(step, pods);
    throw new RetryAfterError(`${pods.length} Pods end their runs.`, { after: "1s", reason: "PodsLeft" });
  }
  await dropStaleRoles(step, undefined);
  step.swept.delete(home.uid);
  await takeLogins(step);
  // Without a permit no bridge and no gateway serves it any more, where they ask for one.
  await step.permits?.records.drop(home.uid, signal);
  await queues.leave(home, spec);
  await keys.deleteAll(home);
}
