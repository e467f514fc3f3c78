import { type ReconcileResult, timestamp } from "@drover/controller";
import { refOf } from "@drover/kube";
import { type Owner, requeueIn, type WorkloadRunContext } from "@drover/workloads";
import { deleteFinished } from "./end/delete-finished.ts";
import { completedEnd, deadlineIn, evaluateEnd } from "./end/evaluate-end.ts";
import { findPods } from "./pods/find-pods.ts";
import {
  finishedCondition,
  isManagedByOther,
  Job,
  type JobObject,
  jobSchema,
  type JobStatus,
} from "./job.ts";
import { type JobEnd, withInterimCondition, withSuspension } from "./end/job-conditions.ts";
import { isTracked } from "./pods/job-pod.ts";
import type { JobPods, JobRunContext } from "./job-run.ts";
import { publishEnd, finishedStatus, mayFinish, writeStatus } from "./end/job-status.ts";
import { deleteActive, type ManagedPods, managePods } from "./pods/manage-pods.ts";
import { freePodsNamedAfter } from "./tracking/free-pods.ts";
import { trackFinished, withCounted } from "./tracking/track-finished.ts";
import { removeFinalizers } from "./tracking/tracking-finalizer.ts";

/**
 * One run: finds the Job's pods, decides if the Job ends, deletes or creates pods, and counts those that have ended.
 *
 * The status is written up to twice. First it notes the pods that have ended; then they lose their finalizer; then the
 * status counts them. So a run that is interrupted anywhere counts no pod twice, and misses none.
 */
export async function reconcileJob(
  runContext: WorkloadRunContext<typeof Job>,
): Promise<ReconcileResult<typeof Job>> {
  const { client, context, now } = runContext;
  const read = jobSchema.parse(context.object);
  if (finishedCondition(read.status) !== undefined) {
    await freePodsNamedAfter({ client, signal: context.signal }, read.metadata, { except: undefined });
    return deleteFinished(runContext, read);
  }
  if (isManagedByOther(read.spec)) {
    await freePodsOfEarlier(runContext, read);
    return {};
  }
  const job = withStartTime(read, now());
  const owner: Owner = { ref: refOf(Job), metadata: job.metadata, selector: job.spec.selector };
  return reconcileUnfinished({ ...runContext, job, owner }, read);
}

/** Frees the pods of an earlier Job of the name, if the Job is new. */
async function freePodsOfEarlier(
  { client, context: { signal } }: WorkloadRunContext<typeof Job>,
  { metadata, status }: JobObject,
): Promise<void> {
  const isNew = status.startTime === undefined && status.uncountedTerminatedPods === undefined;
  if (isNew) await freePodsNamedAfter({ client, signal }, metadata, { except: metadata.uid });
}

function withStartTime(job: JobObject, now: Date): JobObject {
  if (job.status.startTime !== undefined || job.spec.suspend) return job;
  return { ...job, status: { ...job.status, startTime: timestamp(now) } };
}

/** @param read the Job as it was read. */
async function reconcileUnfinished(
  jobContext: JobRunContext,
  read: JobObject,
): Promise<ReconcileResult<typeof Job>> {
  const { job, context, now } = jobContext;
  const pods = await findPods(jobContext);
  // Afterwards: then the first run of a Job needs no list for it.
  await freePodsOfEarlier(jobContext, read);
  const early = evaluateEnd(job, pods, now().getTime());
  const managed = await adjustPods(jobContext, pods, early);
  // After a deletion that failed the Job does not end yet: `track` would count a pod that still runs.
  const decided = managed.firstFailure === undefined ? early : undefined;
  const end = early === undefined ? completedEnd(job, pods, managed.counts.active) : decided;
  const goesOn = early === undefined && end === undefined;
  const mayBeSuspended = goesOn && job.metadata.deletionTimestamp === undefined;
  const { status, announcement } = mayBeSuspended
    ? withSuspension(job, now())
    : { status: job.status, announcement: undefined };
  if (announcement !== undefined) context.announce(announcement);
  const tracked = await track(jobContext, { read, pods, status: { ...status, ...managed.counts }, end });
  // Pods that have ended are counted even if others could not be created.
  if (managed.firstFailure !== undefined) throw managed.firstFailure.reason;
  if (tracked.isFinished) return deleteFinished(jobContext, tracked.job);
  // This run has written, so the next may follow at once.
  if (tracked.hasMore) return { requeueAfter: "1ms" };
  const waits = [managed.wait, goesOn ? deadlineIn(job, now().getTime()) : undefined];
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? {} : requeueIn(Math.min(...known));
}

async function adjustPods(
  jobContext: JobRunContext,
  pods: JobPods,
  end: JobEnd | undefined,
): Promise<ManagedPods> {
  if (end !== undefined) return deleteActive(jobContext, pods);
  const isDeleting = jobContext.job.metadata.deletionTimestamp !== undefined;
  return isDeleting ? { counts: pods.counts } : managePods(jobContext, pods);
}

interface Decided {
  /** The Job as it was read. */
  readonly read: JobObject;
  readonly pods: JobPods;
  readonly status: JobStatus;
  readonly end: JobEnd | undefined;
}

interface Tracked {
  /** The Job as it is now. */
  readonly job: JobObject;
  readonly isFinished: boolean;
  /** True if the next run has more pods to count. */
  readonly hasMore: boolean;
}

/** Counts the pods that have ended, and finishes the Job if it ends and all are counted. */
async function track(jobContext: JobRunContext, { read, pods, status, end }: Decided): Promise<Tracked> {
  const { client, job, now, context } = jobContext;
  const held = new Set(pods.all.filter(isTracked).map(({ metadata }) => metadata.uid));
  const isHeld = (uid: string): boolean => held.has(uid);
  // An interrupted run may have freed pods that it had noted, and not counted them.
  const recovered = withCounted(status, isHeld);
  const { toFree, hasMore, ...tracking } = trackFinished(job, pods, recovered, end);
  const noted = withInterimCondition(tracking.status, end, now());
  const written = await writeStatus(jobContext, read, noted);
  const { done, firstFailure } = await removeFinalizers({ client, signal: context.signal }, toFree);
  for (const { metadata } of done) held.delete(metadata.uid);
  const counted = withCounted(noted, isHeld);
  const finishes = end !== undefined && firstFailure === undefined && !hasMore && mayFinish(counted);
  const last = finishes ? finishedStatus(counted, end, now()) : counted;
  const result = await writeStatus(jobContext, written, last);
  if (firstFailure !== undefined) throw firstFailure.reason;
  if (finishes) publishEnd(jobContext, last, end);
  return { job: result, isFinished: finishes, hasMore };
}
