import { isAvailable, isReady } from "@drover/workloads";
import type { DaemonSetStatus } from "./daemon-set.ts";
import { inKeepingOrder, isUpdated } from "./pods/daemon-pod.ts";
import type { Rollout } from "./rollout/rolling-update.ts";

/** The status of a DaemonSet: nodes are counted, and of each node the pod that is kept. */
export function daemonSetStatus({ daemonSet, hash, pods, placements, now }: Rollout): DaemonSetStatus {
  const { metadata, spec, status } = daemonSet;
  const nodesWith = (isDesired: boolean): readonly string[] =>
    [...placements].filter(([, placement]) => (placement === "run") === isDesired).map(([node]) => node);
  const isScheduled = (node: string): boolean => pods.has(node);
  const desired = nodesWith(true);
  const scheduled = desired
    .filter(isScheduled)
    .flatMap((node) => inKeepingOrder(pods.get(node) ?? [])[0] ?? []);
  const available = scheduled.filter((pod) => isAvailable(pod, spec.minReadySeconds, now)).length;
  return {
    ...status,
    desiredNumberScheduled: desired.length,
    currentNumberScheduled: scheduled.length,
    numberMisscheduled: nodesWith(false).filter(isScheduled).length,
    numberReady: scheduled.filter(isReady).length,
    updatedNumberScheduled: scheduled.filter((pod) => isUpdated(daemonSet, pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: desired.length - available,
    observedGeneration: metadata.generation ?? 0,
  };
}
