import { conditionOf, isTerminating, type Pod, sidecarStatuses } from "@drover/workloads";
import { type Indexes, indexesFrom } from "./indexes.ts";
import { isIndexed, type JobObject, type JobSpec, replacesEndedOnly, trackingFinalizer } from "../job.ts";

const annotations = {
  index: "batch.kubernetes.io/job-completion-index",
  failures: "batch.kubernetes.io/job-index-failure-count",
  ignoredFailures: "batch.kubernetes.io/job-index-ignored-failure-count",
} as const;
export { annotations as jobAnnotations };

/** The number in an annotation; undefined if it has none, or another text. */
function numberIn(pod: Pod, name: string): number | undefined {
  const text = pod.metadata.annotations?.[name] ?? "";
  return /^\d{1,10}$/.test(text) && Number(text) <= 2 ** 31 - 1 ? Number(text) : undefined;
}

/** The completion index of a pod of an Indexed Job. */
export const indexOf = (pod: Pod): number | undefined => numberIn(pod, annotations.index);

export const indexesOf = (pods: readonly Pod[]): Indexes =>
  indexesFrom(pods.flatMap((pod) => indexOf(pod) ?? []));

/** True for a pod that counts: one of an Indexed Job has an index that the Job has. */
export const hasValidIndex = ({ spec }: JobObject, pod: Pod): boolean =>
  !isIndexed(spec) || (indexOf(pod) ?? Infinity) < (spec.completions ?? 0);

/** Pods of its index that have failed before it: those that count towards the limit, and those that do not. */
export const earlierFailures = (pod: Pod) => ({
  counted: numberIn(pod, annotations.failures) ?? 0,
  ignored: numberIn(pod, annotations.ignoredFailures) ?? 0,
});

export const isTracked = ({ metadata }: Pod): boolean =>
  metadata.finalizers?.includes(trackingFinalizer) === true;

export const hasSucceeded = ({ status }: Pod): boolean => status.phase === "Succeeded";

/** True if its phase is Failed. Unless only ended pods are replaced, a pod that is being deleted counts as failed at once. */
export function countsAsFailed(spec: JobSpec, pod: Pod): boolean {
  if (pod.status.phase === "Failed") return true;
  return !replacesEndedOnly(spec) && isTerminating(pod);
}

/**
 * When a pod has ended, ms since 1970: when its last container did; else when it became unready, or when its deletion was
 * asked for; else when it was created.
 */
export function endedAt(pod: Pod): number {
  const { deletionTimestamp, creationTimestamp = "", deletionGracePeriodSeconds: seconds } = pod.metadata;
  const grace = typeof seconds === "number" ? seconds * 1_000 : 0;
  return (
    lastContainerEnd(pod) ??
    unreadySince(pod) ??
    (deletionTimestamp === undefined ? Date.parse(creationTimestamp) : Date.parse(deletionTimestamp) - grace)
  );
}

/** When the last of its sidecars ended, or its last container if it has none; undefined if one of them has not. */
const lastContainerEnd = (pod: Pod): number | undefined =>
  latestEnd(sidecarStatuses(pod), latestEnd(pod.status.containerStatuses, undefined));

/** @returns `before` if there are no containers, and undefined if one of them has not ended. */
function latestEnd(
  containers: Pod["status"]["containerStatuses"],
  before: number | undefined,
): number | undefined {
  let latest = before;
  for (const { state } of containers) {
    const end = state?.terminated?.finishedAt;
    if (end === undefined) return undefined;
    latest = Math.max(latest ?? end, end);
  }
  return latest;
}

function unreadySince({ status }: Pod): number | undefined {
  const ready = conditionOf(status.conditions, "Ready");
  return ready?.status === "False" ? ready.lastTransitionTime : undefined;
}
