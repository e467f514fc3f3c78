// The changes to Jobs and their pods that must still come, computed for any controller.
import { restartsAnnotation, whenDeletedAnnotation } from "@drover/real-cluster";
import { listAt, textAt } from "../../../packages/sandbox/src/json.ts";
import type { Json, JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { World } from "../observe.ts";
import {
  conditionOf,
  controllerOf,
  counted,
  hasEnded,
  isActive,
  isHeld,
  isLeaving,
  isOwnedBy,
  isReady,
  nameOf,
  numberAt,
  uidOf,
} from "../sequences/kinds.ts";
import { awaitedSeconds, firstReason, misfiled, unownedBy, unsettledPod } from "../sequences/settle.ts";
import {
  awaitsEnds,
  completionsOf,
  hasLimitPerIndex,
  indexesIn,
  indexOf,
  isEnding,
  isFinished,
  isManagedByOther,
  isReportedSuspended,
  isSuspended,
  isTerminating,
  isTracked,
  parallelismOf,
} from "./job.ts";

interface Scene {
  readonly jobs: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  readonly events: readonly JsonObject[];
  /** At most so many pods. */
  readonly quota: number | undefined;
}

const annotationOf = (pod: Json, name: string): string | undefined =>
  textAt(pod, "metadata", "annotations", name);

/** Its Job waits for its end, which need not come. */
function isAwaited(pod: Json, jobs: readonly Json[]): boolean {
  const job = jobs.find((one) => isOwnedBy(pod, one));
  if (job === undefined || !isTracked(pod) || hasEnded(pod)) return false;
  return isManagedByOther(job) || (awaitsEnds(job) && !isLeaving(job) && !isFinished(job) && !isEnding(job));
}

function unsettledJobPod(pod: Json, { jobs }: Scene): string | undefined {
  if (isLeaving(pod)) {
    if (annotationOf(pod, whenDeletedAnnotation) === "fails" && !hasEnded(pod)) return "has not failed yet";
    return isHeld(pod) || isAwaited(pod, jobs) ? undefined : "is on its way out";
  }
  if (controllerOf(pod) === undefined && isTracked(pod)) return "has a finalizer and no Job";
  const restarts = listAt(pod, "status", "containerStatuses").map(
    (one) => numberAt(one, "restartCount") ?? 0,
  );
  const wanted = Number(annotationOf(pod, restartsAnnotation) ?? 0);
  if (isReady(pod) && restarts.some((count) => count !== wanted)) return "has not restarted yet";
  return unsettledPod(pod);
}

function unsettledFinished(job: Json, theirs: readonly Json[]): string | undefined {
  const tracked = theirs.find(isTracked);
  if (tracked !== undefined) return `has finished, and ${nameOf(tracked)} has its finalizer`;
  const ttl = numberAt(job, "spec", "ttlSecondsAfterFinished") ?? Infinity;
  return ttl <= awaitedSeconds ? "is to be deleted" : undefined;
}

/** Its status does not agree with its pods. */
function miscounted(job: Json, theirs: readonly Json[]): string | undefined {
  const active = theirs.filter(isActive);
  if (counted(job, "active") !== active.length) return "has other active pods than in its status";
  if (counted(job, "ready") !== active.filter(isReady).length)
    return "has other ready pods than in its status";
  if (counted(job, "terminating") !== theirs.filter(isTerminating).length)
    return "has other terminating pods than in its status";
  const uncounted = ["succeeded", "failed"].flatMap((how) =>
    listAt(job, "status", "uncountedTerminatedPods", how),
  );
  return uncounted.length > 0 ? "has not counted all pods" : undefined;
}

/** A pod that has ended, or counts as ended, and is not counted yet. */
function toCount(job: Json, theirs: readonly Json[]): Json | undefined {
  const activeIndexes = new Set(theirs.filter(isActive).map(indexOf));
  return theirs.find((pod) => {
    if (!isTracked(pod) || !(hasEnded(pod) || (isLeaving(pod) && !awaitsEnds(job)))) return false;
    if (textAt(pod, "status", "phase") === "Succeeded" || !hasLimitPerIndex(job)) return true;
    // One that may still be replaced keeps its finalizer until it is.
    return activeIndexes.has(indexOf(pod));
  });
}

function isToEnd(job: Json, theirs: readonly Json[]): string | undefined {
  const { length: active } = theirs.filter(isActive);
  const [succeeded, completions] = [counted(job, "succeeded"), completionsOf(job)];
  if (active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions))
    return "is to complete";
  const failedIndexes = indexesIn(textAt(job, "status", "failedIndexes") ?? "").size;
  if (failedIndexes > 0 && failedIndexes + succeeded >= (completions ?? 0)) return "is to fail: indexes have";
  if (failedIndexes > (numberAt(job, "spec", "maxFailedIndexes") ?? Infinity))
    return "is to fail: too many indexes have";
  const limit = numberAt(job, "spec", "backoffLimit") ?? 6;
  if (counted(job, "failed") > limit) return "is to fail: too many pods have";
  if (textAt(job, "spec", "template", "spec", "restartPolicy") !== "OnFailure") return undefined;
  const restarts = theirs
    .filter(isActive)
    .flatMap((pod) => listAt(pod, "status", "containerStatuses"))
    .reduce((sum: number, one) => sum + (numberAt(one, "restartCount") ?? 0), 0);
  return restarts > 0 && restarts >= limit ? "is to fail: it has restarted too often" : undefined;
}

/** It has more or fewer pods than it wants. */
function misnumbered(job: Json, theirs: readonly Json[], { quota, pods, events }: Scene): string | undefined {
  const { length: active } = theirs.filter(isActive);
  const { length: terminating } = theirs.filter(isTerminating);
  const [succeeded, completions] = [counted(job, "succeeded"), completionsOf(job)];
  if (completions === undefined && succeeded > 0) return undefined;
  const failedIndexes = indexesIn(textAt(job, "status", "failedIndexes") ?? "").size;
  const most = Math.min(parallelismOf(job), (completions ?? Infinity) - succeeded);
  const least = Math.min(most, (completions ?? Infinity) - succeeded - failedIndexes);
  if (active > Math.max(most, 0)) return "has more pods than it wants";
  if (active + (awaitsEnds(job) ? terminating : 0) >= least) return undefined;
  if (quota === undefined || pods.filter((pod) => !hasEnded(pod)).length < quota)
    return "has fewer pods than it wants";
  const isRefused = events.some(
    (event) =>
      textAt(event, "reason") === "FailedCreate" &&
      [textAt(event, "involvedObject", "uid"), textAt(event, "regarding", "uid")].includes(uidOf(job)),
  );
  return isRefused ? undefined : "has not been refused a pod yet";
}

function unsettledJob(job: Json, scene: Scene): string | undefined {
  const theirs = scene.pods.filter((pod) => isOwnedBy(pod, job));
  if (isLeaving(job))
    return theirs.some((pod) => isHeld(pod) || isAwaited(pod, scene.jobs)) ? undefined : "is on its way out";
  if (isFinished(job)) return unsettledFinished(job, theirs);
  if (isManagedByOther(job)) return undefined;
  // One that has ended and is counted may keep its owner: see docs/workload-controllers.md.
  const kept = scene.pods.filter((pod) => isTracked(pod) || !hasEnded(pod));
  const filing = misfiled(job, kept) ?? miscounted(job, theirs);
  if (filing !== undefined) return filing;
  if (isEnding(job)) return theirs.some(isTerminating) ? undefined : "is about to finish";
  const left = toCount(job, theirs);
  if (left !== undefined) return `is to count ${nameOf(left)}`;
  if (isSuspended(job)) return isReportedSuspended(job) ? undefined : "is to be suspended";
  if (isReportedSuspended(job)) return "is to be resumed";
  if (textAt(job, "status", "startTime") === undefined) return "has not started";
  if ((numberAt(job, "spec", "activeDeadlineSeconds") ?? Infinity) <= awaitedSeconds)
    return "nears its deadline";
  return isToEnd(job, theirs) ?? misnumbered(job, theirs, scene);
}

/** The Event about the end of a Job. */
export function lacksEvent(job: JsonObject, reasons: readonly string[]): boolean {
  if (!isFinished(job) || isManagedByOther(job)) return false;
  return !reasons.includes(textAt(conditionOf(job, "Failed"), "reason") ?? "Completed");
}

/** A change that is still to come, in words; undefined if there is none. */
export function unsettled(world: World, quota: number | undefined): string | undefined {
  const [jobs, pods, events] = [world.objects("Job"), world.objects("Pod"), world.objects("Event")];
  const scene = { jobs, pods, events, quota };
  const left = unownedBy(pods, jobs, "Job");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  return (
    firstReason("Pod", pods, (pod) => unsettledJobPod(pod, scene)) ??
    firstReason("Job", jobs, (job) => unsettledJob(job, scene))
  );
}
