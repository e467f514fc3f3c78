import { sleepUnlessAborted } from "@drover/timers";
import { type Log, objectKey } from "@drover/controller";
import { isApiError, type KubeClient } from "@drover/kube";
import { nodeLabels } from "../node-object.ts";
import type { NodePod } from "./pod.ts";

/** True if this node may take an unbound pod: the only scheduling there is. */
export function isForNode({ spec, terminationGrace, status }: NodePod, name: string): boolean {
  const labels = nodeLabels(name);
  const isWaiting = spec.nodeName === "" && terminationGrace === undefined && status.phase === "Pending";
  const isSchedulable = spec.schedulerName === "default-scheduler" && spec.schedulingGates.length === 0;
  return (
    isWaiting &&
    isSchedulable &&
    Object.entries(spec.nodeSelector).every(([label, value]) => labels[label] === value)
  );
}

export interface BinderOptions {
  readonly client: Pick<KubeClient, "bind">;
  readonly name: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Takes a pod onto this node. False when it is another node's by now, or gone. */
export async function bindPod({ client, name, log, signal }: BinderOptions, pod: NodePod): Promise<boolean> {
  const { namespace, name: podName, uid } = pod;
  while (!signal.aborted) {
    try {
      await client.bind({ namespace, name: podName, uid }, name);
      return true;
    } catch (error) {
      if (isApiError(error, "NotFound", "Conflict", "AlreadyExists")) return false;
      const key = objectKey({ namespace, name: podName });
      log.warn({ pod: key, err: error }, "Could not bind a pod; trying again");
      if (isApiError(error, "Invalid", "Forbidden")) return false;
      await sleepUnlessAborted(200, signal);
    }
  }
  return false;
}
