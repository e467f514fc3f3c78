import { functionLabel } from "@drover/controller";
import {
  builtin,
  isControlledBy,
  isTrueIn,
  type KubeClient,
  type KubeObject,
  listAll,
  type PodStatus,
  podStatusOf,
  unscheduledReason,
} from "@drover/kube";
import type { FunctionRef } from "../function-ref.ts";
import { podRevisionAnnotation } from "../names.ts";
import type { RolloutPod } from "./plan-pod-changes.ts";

/** Why a Pod is not Ready. */
export interface PodProblem {
  /**
   * `ImageNotPulled` lasts until the image exists or the spec names another one. The other reason may end by itself.
   */
  readonly reason: "ImageNotPulled" | "NewPodsDoNotStart";
  /** The reasons and messages of the kubelet and the scheduler. */
  readonly message: string;
}

/** A Pod as the API server returns it, and why it is not Ready, if its status contains that. */
export interface ObservedPod extends RolloutPod {
  readonly problem: PodProblem | undefined;
}

/**
 * The function's Pods, read live, because Pods must not be created or deleted on outdated data. Any user may set the
 * label on a Pod, and a deleted function of the same name may have left some: only the owner's uid shows whose it is.
 */
export async function observePods(
  client: KubeClient,
  functionRef: FunctionRef,
  signal: AbortSignal,
): Promise<readonly ObservedPod[]> {
  const pods = await listAll(client, builtin.pod, {
    namespace: functionRef.namespace,
    labelSelector: `${functionLabel}=${functionRef.name}`,
    signal,
  });
  return pods.filter((pod) => isControlledBy(pod.metadata, functionRef)).map(observePod);
}

/** The deployer's view of a Pod. */
export function observePod(pod: KubeObject): ObservedPod {
  const { name, uid, annotations = {}, deletionTimestamp, creationTimestamp = "" } = pod.metadata;
  const status = podStatusOf(pod);
  const { phase } = status;
  return {
    name,
    uid,
    revision: Number(annotations[podRevisionAnnotation] ?? 0),
    ready: isTrueIn(status, "Ready"),
    deleting: deletionTimestamp !== undefined,
    ended: phase === "Succeeded" || phase === "Failed",
    createdAt: creationTimestamp,
    problem: problemOf(status),
  };
}

/** The kubelet's reasons for a container that is starting without a problem so far. */
const starting: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);
/** The kubelet's reasons for an image that it could not get. It may try again; a user must usually act first. */
const withoutImage: ReadonlySet<string> = new Set([
  ...["ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"],
]);

function problemOf(status: PodStatus): PodProblem | undefined {
  const { reason, message, containerStatuses } = status;
  const [container] = containerStatuses;
  const { waiting } = container?.state ?? {};
  const isStarting = starting.has(waiting?.reason ?? "");
  const { terminated } = container?.lastState ?? {};
  const unscheduled = unscheduledReason(status);
  const words = [
    unscheduled?.reason,
    unscheduled?.message,
    reason,
    message,
    isStarting ? undefined : waiting?.reason,
    waiting?.message,
    terminated && `its container ended with exit code ${terminated.exitCode}`,
    terminated?.message,
  ].filter((word) => word !== undefined && word !== "");
  if (words.length === 0) return undefined;
  const problem = words.join(": ");
  return withoutImage.has(waiting?.reason ?? "")
    ? {
        reason: "ImageNotPulled",
        message: `${problem}. Correct spec.container.image, or permit the Pods to pull it.`,
      }
    : { reason: "NewPodsDoNotStart", message: problem };
}
