import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./change-pods.ts";
import { takeLogins } from "./delivered.ts";
import type { FunctionContext } from "./function-objects.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
import { dropStaleRoles } from "./stale-roles.ts";
import type { Step } from "./step.ts";

/** True if the function may have objects in the cluster. Once it has none, the template in its status is empty. */
export const isDeployed = ({ rollout }: FunctionContext["status"]): boolean =>
  (rollout?.template ?? "") !== "";

/**
 * For a function without a container: deletes the Pods that it still has. Its revisions continue from here.
 * @returns the next `status.rollout`.
 */
export async function withdraw(step: Step, pods: readonly ObservedPod[]) {
  const { status } = step.context;
  await dropPods(step, pods);
  if (pods.length > 0 || !isDeployed(status)) return status.rollout;
  return { ...status.rollout, revision: status.rollout?.revision ?? 0, template: "" };
}

/**
 * Deletes the Pods first, so that their runs end with all that they need; then the roles, which no owner reference
 * deletes; then the Redis user; and when no client can write as that user any more, the keys. Every step may be
 * repeated.
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
  // Bridges and gateways that require a permit stop serving the function.
  await step.permits?.records.drop(home.uid, signal);
  await queues.leave(home, spec);
  await keys.deleteAll(home);
}
