import { builtin } from "@drover/kube";
import {
  adoptAndRelease,
  findMatching,
  findStrayed,
  isActive,
  isReady,
  isTerminating,
  mayRun,
  type Pod,
  podSchema,
} from "@drover/workloads";
import { countOf, hasIndex, type Indexes, readIndexes, union } from "./indexes.ts";
import { isIndexed, type JobObject, trackingFinalizer } from "../job.ts";
import {
  earlierFailures,
  endedAt,
  countsAsFailed,
  hasSucceeded,
  hasValidIndex,
  indexesOf,
  indexOf,
  isTracked,
} from "./job-pod.ts";
import type { JobPods, JobRunContext } from "../job-run.ts";
import { isIgnored, matchFailurePolicy } from "../end/pod-failure-policy.ts";

/** The pods of a Job. Adopts orphans and releases pods that no longer match before it returns them. */
export async function findPods({ client, owner, context, job }: JobRunContext): Promise<JobPods> {
  const parts = { client, owner, kind: builtin.pod, signal: context.signal, finalizer: trackingFinalizer };
  // Only pods that are made for this Job have its uid, unless the selector is a user's.
  const madeByRuns =
    job.spec.selector.matchLabels?.["batch.kubernetes.io/controller-uid"] === job.metadata.uid;
  const matching = (await findMatching(parts, { madeByRuns })).map((pod) => podSchema.parse(pod));
  const all = await adoptAndRelease(parts, matching);
  if (isMissingPods(job, all)) await adoptAndRelease(parts, await findStrayed(parts));
  return withCounts(job, all);
}

/**
 * True if fewer pods were found than the status counts as active or terminating: one may have been relabelled. Pods that
 * have ended since the status was written still have their finalizer.
 */
function isMissingPods({ status }: JobObject, all: readonly Pod[]): boolean {
  const found = all.filter((pod) => mayRun(pod) || isTracked(pod)).length;
  return found < status.active + (status.terminating ?? 0);
}

/** The pods of a Job and their outcomes, together with what its status has counted before. */
function withCounts(job: JobObject, all: readonly Pod[]): JobPods {
  const { spec, status } = job;
  const active = all.filter(isActive);
  const uncounted = status.uncountedTerminatedPods ?? { succeeded: [], failed: [] };
  const isNew = (pod: Pod, known: readonly string[]): boolean =>
    isTracked(pod) && !known.includes(pod.metadata.uid) && hasValidIndex(job, pod);
  const succeeded = all.filter((pod) => hasSucceeded(pod) && isNew(pod, uncounted.succeeded));
  const failed = all.filter((pod) => countsAsFailed(spec, pod) && isNew(pod, uncounted.failed));
  const succeededIndexes = isIndexed(spec) ? succeededIndexesOf(job, all) : [];
  const failedIndexes = spec.backoffLimitPerIndex === undefined ? undefined : failedIndexesOf(job, all);
  const counted = failed.filter((pod) => !isIgnored(spec, pod)).length;
  return {
    all,
    active,
    counts: {
      active: active.length,
      ready: active.filter(isReady).length,
      terminating: all.filter(isTerminating).length,
    },
    succeeded: isIndexed(spec)
      ? countOf(succeededIndexes)
      : status.succeeded + succeeded.length + uncounted.succeeded.length,
    failed: status.failed + counted + uncounted.failed.length,
    succeededIndexes,
    failedIndexes,
    toReplace:
      failedIndexes === undefined
        ? new Map<number, Pod>()
        : lastFailures(job, all, [succeededIndexes, failedIndexes, indexesOf(active)].reduce(union)),
  };
}

function succeededIndexesOf(job: JobObject, all: readonly Pod[]): Indexes {
  const before = readIndexes(job.status.completedIndexes, job.spec.completions ?? 0);
  return union(
    before,
    indexesOf(all.filter((pod) => hasSucceeded(pod) && isTracked(pod) && hasValidIndex(job, pod))),
  );
}

function failedIndexesOf(job: JobObject, all: readonly Pod[]): Indexes {
  const before = readIndexes(job.status.failedIndexes ?? "", job.spec.completions ?? 0);
  return union(
    before,
    indexesOf(all.filter((pod) => isTracked(pod) && hasValidIndex(job, pod) && failsItsIndex(job, pod))),
  );
}

/** True if with its failure its index has failed. */
function failsItsIndex({ spec }: JobObject, pod: Pod): boolean {
  if (!countsAsFailed(spec, pod)) return false;
  const match = matchFailurePolicy(spec, pod);
  if (match?.action === "FailIndex") return true;
  return match?.action !== "Ignore" && earlierFailures(pod).counted >= (spec.backoffLimitPerIndex ?? 0);
}

/**
 * The last failed pod of each index, by its number of earlier failures and its end.
 *
 * @param settled indexes that need no other pod.
 */
function lastFailures(job: JobObject, all: readonly Pod[], settled: Indexes): ReadonlyMap<number, Pod> {
  const last = new Map<number, Pod>();
  const failuresOf = (pod: Pod): number => earlierFailures(pod).counted + earlierFailures(pod).ignored;
  for (const pod of all) {
    const index = indexOf(pod);
    if (index === undefined || !isTracked(pod) || !hasValidIndex(job, pod) || !countsAsFailed(job.spec, pod))
      continue;
    if (hasIndex(settled, index)) continue;
    const other = last.get(index);
    if (other === undefined || (failuresOf(other) <= failuresOf(pod) && endedAt(pod) >= endedAt(other)))
      last.set(index, pod);
  }
  return last;
}
