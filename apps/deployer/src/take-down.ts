import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./pods/change-pods.ts";
import { removeCredentials } from "./delivery.ts";
import type { FunctionContext } from "./objects/function-object.ts";
import { type ObservedPod, observePods } from "./pods/observe-pods.ts";
import { deleteStaleRoles } from "./roles/stale-roles.ts";
import type { DeployRunContext } from "./run-context.ts";

/** True if the function may have objects in the cluster. Once it has none, the template in its status is empty. */
export const isDeployed = ({ rollout }: FunctionContext["status"]): boolean =>
  (rollout?.template ?? "") !== "";

/**
 * For a function without a container: deletes the Pods that it still has. Its revisions continue from here.
 * @returns the next `status.rollout`.
 */
export async function removePods(runContext: DeployRunContext, pods: readonly ObservedPod[]) {
  const { status } = runContext.context;
  await dropPods(runContext, pods);
  if (pods.length > 0 || !isDeployed(status)) return status.rollout;
  return { ...status.rollout, revision: status.rollout?.revision ?? 0, template: "" };
}

/**
 * Deletes the Pods first, so that their runs end with all that they need; then the roles, which no owner reference
 * deletes; then the Redis user; and when no client can write as that user any more, the keys. Every step may be
 * repeated.
 */
export async function takeDown(runContext: DeployRunContext): Promise<void> {
  const { context, functionRef, client, queues, keys } = runContext;
  const { signal, spec } = context;
  const pods = await observePods(client, functionRef, signal);
  if (pods.length > 0) {
    await dropPods(runContext, pods);
    throw new RetryAfterError(`Waiting for ${pods.length} Pods to end their runs.`, {
      after: "1s",
      reason: "PodsLeft",
    });
  }
  await deleteStaleRoles(runContext, undefined);
  runContext.cleanedGenerations.delete(functionRef.uid);
  await removeCredentials(runContext);
  // Bridges and gateways that require a permit stop serving the function.
  await runContext.permits?.records.drop(functionRef.uid, signal);
  await queues.closeQueuesOf(functionRef, spec);
  await keys.deleteAll(functionRef);
}
