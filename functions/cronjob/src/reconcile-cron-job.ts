import type { Milliseconds, ReconcileResult } from "@drover/controller";
import { Job, type JobObject, jobSchema } from "@drover/job";
import { controllerOf, refOf } from "@drover/kube";
import { isSameStatus, replaceStatus, requeueIn, type WorkloadRunContext } from "@drover/workloads";
import { cleanUpJobs } from "./clean-up-jobs.ts";
import { CronJob, cronJobSchema } from "./cron-job.ts";
import type { CronJobRunContext } from "./cron-job-run.ts";
import { followJobs } from "./follow-jobs.ts";
import { startDue } from "./start-due.ts";

/** Until the next run after one that could not delete an old Job: the next time is not missed meanwhile. */
const untilNextCleanUp: Milliseconds = 10_000;

/** One run: deletes old Jobs, notes which have ended, starts the one that is due, and writes the status. */
export async function reconcileCronJob(
  runContext: WorkloadRunContext<typeof CronJob>,
): Promise<ReconcileResult<typeof CronJob>> {
  const cronJob = cronJobSchema.parse(runContext.context.object);
  const progress = { status: cronJob.status };
  const cronJobContext: CronJobRunContext = { ...runContext, cronJob, progress };
  const jobs = await jobsOf(cronJobContext);
  const isDeleting = cronJob.metadata.deletionTimestamp !== undefined;
  let wait: Milliseconds = Infinity;
  try {
    const isClean = await cleanUpJobs(cronJobContext, jobs);
    await followJobs(cronJobContext, jobs);
    const next = isDeleting ? undefined : await startDue(cronJobContext);
    wait = Math.min(next ?? Infinity, isClean ? Infinity : untilNextCleanUp);
  } finally {
    await writeStatus(cronJobContext);
  }
  if (wait === Infinity) return {};
  return isSameStatus(cronJob.status, progress.status) ? requeueIn(wait) : requeueIn(wait, 1);
}

/** The Jobs that name the CronJob as their controller. */
async function jobsOf({ client, context, cronJob }: CronJobRunContext): Promise<readonly JobObject[]> {
  const { namespace, name } = cronJob.metadata;
  const all = await client.find(refOf(Job), { namespace, mappedToKey: true, signal: context.signal });
  return all.filter((job) => controllerOf(job.metadata)?.name === name).map((job) => jobSchema.parse(job));
}

async function writeStatus({ client, cronJob, progress: { status } }: CronJobRunContext): Promise<void> {
  await replaceStatus({ client }, refOf(CronJob), cronJob, status);
}
