import type { Pod } from "@drover/workloads";
import { countOf, writeIndexes } from "../pods/indexes.ts";
import { isIndexed, type JobObject, type JobStatus } from "../job.ts";
import { countsAsFailed, hasSucceeded, hasValidIndex, indexOf, isTracked } from "../pods/job-pod.ts";
import type { JobPods } from "../job-run.ts";
import type { JobEnd } from "../end/job-conditions.ts";
import { isIgnored } from "../end/pod-failure-policy.ts";

/** Most pods that one run frees: so many uids fit into the status, and large Jobs do not hold up small ones. */
const maxFreed = 500;

/** The pods to free in this run, and the status that has noted those that count. */
export interface Tracking {
  readonly status: JobStatus;
  /** Their finalizers may be removed once that status is written. */
  readonly toFree: readonly Pod[];
  /** True if the next run has more pods to free. */
  readonly hasMore: boolean;
}

/**
 * Notes the pods that have ended in the status, so that none is counted twice or not at all: first their uids are
 * written, then their finalizers are removed, then they are counted (`withCounted`). A succeeded index needs no uid:
 * `completedIndexes` is a set, so it cannot be counted twice.
 *
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-apps/2307-job-tracking-without-lingering-pods
 */
export function trackFinished(
  job: JobObject,
  pods: JobPods,
  before: JobStatus,
  end: JobEnd | undefined,
): Tracking {
  const { spec } = job;
  const noted = before.uncountedTerminatedPods ?? { succeeded: [], failed: [] };
  const [succeeded, failed] = [[...noted.succeeded], [...noted.failed]];
  const toFree: Pod[] = [];
  for (const pod of pods.all) {
    const { uid } = pod.metadata;
    if (!isTracked(pod) || !mayBeFreed(job, pods, pod, end)) continue;
    if (toFree.length >= maxFreed) return { status: withNoted(), toFree, hasMore: true };
    toFree.push(pod);
    // A pod that was noted as failed while it was being deleted stays failed, even if it has succeeded since.
    if (hasSucceeded(pod) && !noted.failed.includes(uid)) {
      if (!isIndexed(spec) && !noted.succeeded.includes(uid)) succeeded.push(uid);
    } else if (countsAsFailed(spec, pod) || end?.type === "Failed") {
      // Once the Job has failed, every pod that has not ended counts as failed.
      if (!noted.failed.includes(uid) && hasValidIndex(job, pod) && !isIgnored(spec, pod)) failed.push(uid);
    }
  }
  return { status: withNoted(), toFree, hasMore: false };

  function withNoted(): JobStatus {
    const status = { ...before, uncountedTerminatedPods: { succeeded, failed } };
    return isIndexed(spec) ? withIndexes(status, pods) : status;
  }
}

const withIndexes = (status: JobStatus, { succeededIndexes, failedIndexes }: JobPods): JobStatus => ({
  ...status,
  succeeded: countOf(succeededIndexes),
  completedIndexes: writeIndexes(succeededIndexes),
  failedIndexes: failedIndexes && writeIndexes(failedIndexes),
});

function mayBeFreed(
  { metadata, spec }: JobObject,
  pods: JobPods,
  pod: Pod,
  end: JobEnd | undefined,
): boolean {
  if (metadata.deletionTimestamp !== undefined || end !== undefined || hasSucceeded(pod)) return true;
  if (!countsAsFailed(spec, pod)) return false;
  const index = indexOf(pod);
  const waiting = index === undefined ? undefined : pods.toReplace.get(index);
  return waiting?.metadata.uid !== pod.metadata.uid;
}

/** The status in which noted pods that have no finalizer any more are counted. */
export function withCounted(status: JobStatus, hasFinalizer: (uid: string) => boolean): JobStatus {
  const { succeeded, failed } = status.uncountedTerminatedPods ?? { succeeded: [], failed: [] };
  const left = { succeeded: succeeded.filter(hasFinalizer), failed: failed.filter(hasFinalizer) };
  return {
    ...status,
    succeeded: status.succeeded + succeeded.length - left.succeeded.length,
    failed: status.failed + failed.length - left.failed.length,
    uncountedTerminatedPods: left,
  };
}
