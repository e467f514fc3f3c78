import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./change-pods.ts";
import { takeDeliveries } from "./delivered.ts";
import { type FunctionContext, functionObjects } from "./function-objects.ts";
import { dropObject } from "./keep-object.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
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

/** Pods first, so that runs under way end with all that they need; what has no owner in the cluster last. */
export async function takeDown(step: Step): Promise<void> {
  const { context, home, client } = step;
  const { signal, spec } = context;
  const pods = await observePods(client, home, signal);
  if (pods.length > 0) {
    await dropPods(step, pods);
    throw new RetryAfterError(`${pods.length} Pods end their runs.`, { after: "1s", reason: "PodsLeft" });
  }
  for (const { ref, object } of functionObjects(home, spec)) {
    if (!ref.namespaced) await dropObject({ client, signal, owner: home.uid }, ref, object);
  }
  await takeDeliveries(step);
  await step.permits?.records.drop(home.uid, signal);
}
