import { countOf } from "../pods/indexes.ts";
import type { JobObject } from "../job.ts";
import { countsAsFailed } from "../pods/job-pod.ts";
import { decidedEnd, type JobEnd } from "./job-conditions.ts";
import type { JobPods } from "../job-run.ts";
import { matchFailurePolicy } from "./pod-failure-policy.ts";
import { matchSuccessPolicy } from "./success-policy.ts";

/**
 * Why the Job ends before its completions are reached; undefined if it goes on. What an earlier run has decided comes
 * first, then failure, then success.
 */
export function evaluateEnd(job: JobObject, pods: JobPods, now: number): JobEnd | undefined {
  const { spec } = job;
  const decided = decidedEnd(job.status);
  if (decided !== undefined) return decided;
  const failJob = pods.all
    .filter((pod) => countsAsFailed(spec, pod))
    .map((pod) => matchFailurePolicy(spec, pod))
    .find((match) => match?.action === "FailJob");
  if (failJob !== undefined) return failed({ reason: "PodFailurePolicy", message: failJob.message });
  if (pods.failed > spec.backoffLimit || hasRestartedTooOften(job, pods))
    return failed({ reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" });
  if (deadlineIn(job, now) === 0)
    return failed({ reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" });
  const { completions = 0, maxFailedIndexes = Infinity } = spec;
  const failedIndexes = countOf(pods.failedIndexes ?? []);
  if (failedIndexes > maxFailedIndexes)
    return failed({
      reason: "MaxFailedIndexesExceeded",
      message: "Job has exceeded the specified maximal number of failed indexes",
    });
  if (failedIndexes > 0 && failedIndexes + countOf(pods.succeededIndexes) >= completions)
    return failed({ reason: "FailedIndexes", message: "Job has failed indexes" });
  const succeeds = matchSuccessPolicy(spec, pods.succeededIndexes);
  return succeeds === undefined
    ? undefined
    : { type: "Complete", reason: "SuccessPolicy", message: succeeds };
}

const failed = (why: Pick<JobEnd, "reason" | "message">): JobEnd => ({ type: "Failed", ...why });

/** The end of a Job that has reached its completions, if it has and no pod is active any more. */
export function completedEnd(
  { spec }: JobObject,
  { succeeded }: JobPods,
  active: number,
): JobEnd | undefined {
  const isReached = spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions;
  return isReached && active === 0
    ? {
        type: "Complete",
        reason: "CompletionsReached",
        message: "Reached expected number of succeeded pods",
      }
    : undefined;
}

/** Time until `activeDeadlineSeconds` are over, ms; undefined without a deadline, and while the Job is suspended. */
export function deadlineIn({ spec, status }: JobObject, now: number): number | undefined {
  const { activeDeadlineSeconds, suspend } = spec;
  if (activeDeadlineSeconds === undefined || status.startTime === undefined || suspend) return undefined;
  return Math.max(0, Date.parse(status.startTime) + activeDeadlineSeconds * 1_000 - now);
}

/** With `restartPolicy: OnFailure` the kubelet restarts containers, and their restarts count. */
function hasRestartedTooOften({ spec }: JobObject, { all }: JobPods): boolean {
  if (spec.template.spec?.["restartPolicy"] !== "OnFailure") return false;
  const restarts = all
    .filter(({ status: { phase } }) => phase === "Running" || phase === "Pending")
    .flatMap(({ status }) => [...status.initContainerStatuses, ...status.containerStatuses])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return spec.backoffLimit === 0 ? restarts > 0 : restarts >= spec.backoffLimit;
}
