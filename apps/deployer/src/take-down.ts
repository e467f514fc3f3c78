import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./change-pods.ts";
import { builtin } from "@drover/kube";
import { type FunctionContext, functionObjects } from "./function-objects.ts";
import { dropObject } from "./keep-object.ts";
import { redisSecretOf } from "./names.ts";
import { type ObservedPod, observePods } from "./observe-pods.ts";
import type { Step } from "./step.ts";

/** Whether there is anything of it in the cluster: its last template is forgotten when there is not. */
export const isDeployed = ({ rollout }: FunctionContext["status"]): boolean =>
  (rollout?.template ?? "") !== "";

/**
 * It has no container any more: its Pods go, and then, once, what they logged in with. Somebody else who runs it may have
 * a user of that name. Revisions go on from here.
 */
export async function withdraw(step: Step, pods: readonly ObservedPod[]) {
  const { context, home, client, accounts } = step;
  const { status, signal } = context;
  await dropPods(step, pods);
  if (pods.length > 0 || !isDeployed(status)) return status.rollout;
  await accounts.revoke(home.name);
  const metadata = { name: redisSecretOf(home.name), namespace: home.namespace };
  await dropObject({ client, signal, owner: home.uid }, builtin.secret, { metadata });
  return { ...status.rollout, revision: status.rollout?.revision ?? 0, template: "" };
}

/** Pods first, so that runs under way end with all that they need; what has no owner in the cluster last. */
export async function takeDown(step: Step): Promise<void> {
  const { context, home, client, accounts } = step;
  const { signal, spec } = context;
  const pods = await observePods(client, home, signal);
  if (pods.length > 0) {
    await dropPods(step, pods);
    throw new RetryAfterError(`${pods.length} Pods end their runs.`, { after: "1s", reason: "PodsLeft" });
  }
  for (const { ref, object } of functionObjects(home, spec)) {
    if (!ref.namespaced) await dropObject({ client, signal, owner: home.uid }, ref, object);
  }
  if (isDeployed(context.status)) await accounts.revoke(home.name);
}
