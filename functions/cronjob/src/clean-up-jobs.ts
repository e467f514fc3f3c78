import { finishedCondition, Job, type JobObject } from "@drover/job";
import { keyOf, refOf, WriteRefusedError } from "@drover/kube";
import { serverMessageOf } from "@drover/workloads";
import { type CronJobRunContext, noteInactive, publish } from "./cron-job-run.ts";

/** Deletes the oldest finished Jobs, beyond the limits of the history. Returns false if one is left. */
export async function cleanUpJobs(
  runContext: CronJobRunContext,
  jobs: readonly JobObject[],
): Promise<boolean> {
  let isClean = true;
  const { successfulJobsHistoryLimit: successful, failedJobsHistoryLimit: failed } = runContext.cronJob.spec;
  for (const [end, limit = Infinity] of [
    ["Complete", successful],
    ["Failed", failed],
  ] as const) {
    const ended = jobs.filter((job) => finishedCondition(job.status)?.type === end).sort(byStart);
    for (const job of ended.slice(0, Math.max(0, ended.length - limit)))
      isClean = (await deleteJob(runContext, job)) && isClean;
  }
  return isClean;
}

const startOf = ({ status: { startTime } }: JobObject): number =>
  startTime === undefined ? Infinity : Date.parse(startTime);

function byStart(a: JobObject, b: JobObject): number {
  if (startOf(a) !== startOf(b)) return startOf(a) < startOf(b) ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Deletes a Job with its pods. Returns false, with an Event, if that fails. */
export async function deleteJob(runContext: CronJobRunContext, job: JobObject): Promise<boolean> {
  const { client, context } = runContext;
  const { name, uid } = job.metadata;
  const options = { uid, propagationPolicy: "Background", signal: context.signal } as const;
  try {
    const wasThere = await client.delete(refOf(Job), keyOf(job), options);
    if (wasThere) publish(runContext, "SuccessfulDelete", `Deleted job ${name}`);
  } catch (error) {
    if (error instanceof WriteRefusedError) throw error;
    publish(runContext, "FailedDelete", `Deleted job: ${serverMessageOf(error)}`, "Warning");
    return false;
  }
  noteInactive(runContext, uid);
  return true;
}
