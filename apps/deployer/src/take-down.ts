import { RetryAfterError } from "@drover/controller";
import { dropPods } from "./change-pods.ts";
import { functionObjects } from "./function-objects.ts";
import { dropObject } from "./keep-object.ts";
import { observePods } from "./observe-pods.ts";
import type { Step } from "./step.ts";

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
  if (context.status.rollout !== undefined && spec.delivery !== "webhook") await accounts.revoke(home.name);
}
