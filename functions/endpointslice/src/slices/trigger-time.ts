import { timestamp } from "@drover/controller";
import { conditionOf, isReady } from "@drover/workloads";
import { type Endpoint, type EndpointSlice, isOwnedBy, isPlaceholder } from "../endpoint-slice.ts";
import type { EndpointPod } from "../pods/endpoint-pod.ts";
import type { ServiceObject } from "../service.ts";

interface TriggerOptions {
  readonly pods: readonly EndpointPod[];
  /** The endpoints that the slices are to have. */
  readonly wanted: readonly Endpoint[];
  readonly slices: readonly EndpointSlice[];
}

/**
 * The time of the change that a run's writes publish, for metrics of its latency; undefined if no time is recorded for it.
 * It is the first time at which one of the pods became ready or unready, among the pods that have become so, or were added,
 * since the slices were written. Without slices it is the Service's creation.
 *
 * kube-controller-manager remembers the pods' times. Here they are compared with the state in the slices.
 */
export function triggerTimeOf(
  service: ServiceObject,
  { pods, wanted, slices }: TriggerOptions,
): string | undefined {
  const own = slices.filter((slice) => isOwnedBy(slice, service));
  // A placeholder that an earlier Service of the name has left is kept as it is; its other slices are deleted.
  const isKept = slices.length > 0 && slices.every((slice) => isPlaceholder(slice, service));
  if (own.length === 0 && !isKept) return service.metadata.creationTimestamp;
  const wasServing = new Map(
    own
      .flatMap(({ endpoints }) => endpoints)
      .map(({ targetRef, conditions }) => [targetRef?.uid, conditions.serving ?? false]),
  );
  const isWanted = new Set(wanted.map(({ targetRef }) => targetRef?.uid));
  const hasChanged = (pod: EndpointPod): boolean =>
    wasServing.has(pod.metadata.uid)
      ? wasServing.get(pod.metadata.uid) !== isReady(pod)
      : isWanted.has(pod.metadata.uid);
  const times = pods
    .filter(hasChanged)
    .flatMap(({ status }) => conditionOf(status.conditions, "Ready")?.lastTransitionTime ?? []);
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  return Number.isFinite(first) ? timestamp(new Date(first)) : undefined;
}
