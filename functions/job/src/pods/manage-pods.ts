import type { Milliseconds } from "@drover/controller";
import {
  allAtOnce,
  type BatchResult,
  burstReplicas,
  createEachPod,
  deletePod,
  deletePods,
  inPlainDeletionOrder,
  isNamespaceTerminating,
  isReady,
  isTerminating,
  type Pod,
  podControlOf,
} from "@drover/workloads";
import { remainingBackoff, remainingIndexBackoff } from "./backoff.ts";
import { firstMissing, union } from "./indexes.ts";
import { isIndexed, type JobObject, type JobSpec, replacesEndedOnly } from "../job.ts";
import { hasValidIndex, indexesOf, indexOf } from "./job-pod.ts";
import type { JobPods, JobRunContext, PodCounts } from "../job-run.ts";
import { indexedTemplate, trackedTemplate } from "./pod-templates.ts";
import { removeFinalizer } from "../tracking/tracking-finalizer.ts";

/** The pods after creations and deletions. */
export interface ManagedPods {
  readonly counts: PodCounts;
  /** Why not all of them could be created or deleted. */
  readonly firstFailure?: PromiseRejectedResult | undefined;
  /** Time until missing pods may be created: their backoff. */
  readonly wait?: Milliseconds;
}

/**
 * Deletes the active pods of a Job that ends. They keep their finalizer, since they count if the Job fails. Surplus pods lose
 * it first (`deleteSurplus`), and are never counted.
 */
export async function deleteActive(runContext: JobRunContext, pods: JobPods): Promise<ManagedPods> {
  const result = await deletePods(podControlOf(runContext), pods.active);
  return afterDeletion(pods, result);
}

/** Creates pods that are missing, or deletes those that are too many, at most 500 in one run unless the Job is suspended. */
export async function managePods(runContext: JobRunContext, pods: JobPods): Promise<ManagedPods> {
  const { spec } = runContext.job;
  const wanted = wantedOf(spec, pods);
  const surplus = surplusOf(runContext.job, pods.active, pods.active.length - wanted);
  if (surplus.length > 0)
    return deleteSurplus(runContext, pods, spec.suspend ? surplus : surplus.slice(0, burstReplicas));
  const { active, terminating } = pods.counts;
  const missing = wanted - active - (replacesEndedOnly(spec) ? terminating : 0);
  return missing > 0
    ? createMissing(runContext, pods, Math.min(missing, burstReplicas))
    : { counts: pods.counts };
}

/** How many pods should be active. */
function wantedOf({ completions, parallelism, suspend }: JobSpec, { active, succeeded }: JobPods): number {
  if (suspend) return 0;
  // Without completions, no other pod is created once one has succeeded, and the active ones go on to their end.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** Pods that no index needs, then others, up to `count` in all. */
function surplusOf(job: JobObject, active: readonly Pod[], count: number): readonly Pod[] {
  const order = inPlainDeletionOrder(active);
  const needless = new Set(isIndexed(job.spec) ? needlessOf(job, order) : []);
  const others = order.filter((pod) => !needless.has(pod));
  return [...needless, ...others.slice(0, Math.max(0, count - needless.size))];
}

/** Pods without an index that the Job has, and all but the last of each index. */
function needlessOf(job: JobObject, order: readonly Pod[]): readonly Pod[] {
  const kept = new Set<number>();
  return order.toReversed().filter((pod) => {
    const index = indexOf(pod);
    if (index === undefined || !hasValidIndex(job, pod) || kept.has(index)) return true;
    kept.add(index);
    return false;
  });
}

/** Deletes pods that do not count: each loses its finalizer first. */
async function deleteSurplus(
  runContext: JobRunContext,
  pods: JobPods,
  surplus: readonly Pod[],
): Promise<ManagedPods> {
  const control = podControlOf(runContext);
  const result = await allAtOnce(surplus, async (pod) => {
    await removeFinalizer(control, pod);
    return deletePod(control, pod);
  });
  return afterDeletion(pods, result);
}

function afterDeletion({ counts }: JobPods, { done, firstFailure }: BatchResult<Pod>): ManagedPods {
  const left = {
    active: counts.active - done.length,
    ready: counts.ready - done.filter(isReady).length,
    terminating: counts.terminating + done.length,
  };
  return { counts: left, firstFailure };
}

async function createMissing(runContext: JobRunContext, pods: JobPods, count: number): Promise<ManagedPods> {
  const { job } = runContext;
  const now = runContext.now().getTime();
  const isPerIndex = job.spec.backoffLimitPerIndex !== undefined;
  const wait = isPerIndex ? 0 : remainingBackoff(job.spec, pods.all, now);
  if (wait > 0) return { counts: pods.counts, wait };
  const template = trackedTemplate(job);
  if (!isIndexed(job.spec)) return createAll(runContext, pods, new Array(count).fill({ template }));
  const pending = pendingIndexes(job, pods, count).map((index) => {
    const last = pods.toReplace.get(index);
    return { index, last, wait: last === undefined ? 0 : remainingIndexBackoff(last, now) };
  });
  const due = pending.filter((one) => one.wait === 0);
  if (due.length === 0 && pending.length > 0)
    return { counts: pods.counts, wait: Math.min(...pending.map((one) => one.wait)) };
  // The creation of these causes the next run, which waits for the others.
  return createAll(
    runContext,
    pods,
    due.map(({ index, last }) => ({
      template: indexedTemplate(job, template, index, last),
      nameEnd: `-${index}-`,
    })),
  );
}

function pendingIndexes({ spec }: JobObject, pods: JobPods, count: number): readonly number[] {
  const terminating = replacesEndedOnly(spec) ? indexesOf(pods.all.filter(isTerminating)) : [];
  const settled = [pods.succeededIndexes, indexesOf(pods.active), terminating, pods.failedIndexes ?? []];
  return firstMissing(settled.reduce(union), count, spec.completions ?? 0);
}

async function createAll(
  runContext: JobRunContext,
  pods: JobPods,
  wanted: Parameters<typeof createEachPod>[1],
): Promise<ManagedPods> {
  const { done, firstFailure } = await createEachPod(podControlOf(runContext), wanted, pods.all);
  // A pod that an earlier run has requested may be among the active ones.
  const known = new Set(pods.active.map(({ metadata }) => metadata.uid));
  const created = done.filter(({ metadata }) => !known.has(metadata.uid)).length;
  const counts = { ...pods.counts, active: pods.counts.active + created };
  // In a namespace that is being deleted no pod can be created, and none is needed.
  return isNamespaceTerminating(firstFailure?.reason) ? { counts } : { counts, firstFailure };
}
