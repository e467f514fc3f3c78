import { maxDuration, type ReconcileResult } from "@drover/controller";
import { Job } from "@drover/job";
import { controllerOf, refOf } from "@drover/kube";
import { isSameStatus, type WorkloadRunContext } from "@drover/workloads";
import { cleanUpJobs } from "./clean-up-jobs.ts";
import { type Child, childSchema, CronJob, cronJobSchema } from "./cron-job.ts";
import type { CronJobRunContext } from "./cron-job-run.ts";
import { followJobs } from "./follow-jobs.ts";
import { startDue } from "./start-due.ts";

/** A run that writes nothing and asks for another one sooner than this would count as failed. */
const soonest = 1_000;

/** One run: deletes old Jobs, notes which have ended, starts the one that is due, and writes the status. */
export async function reconcileCronJob(
  runContext: WorkloadRunContext<typeof CronJob>,
): Promise<ReconcileResult<typeof CronJob>> {
  const cronJob = cronJobSchema.parse(runContext.context.object);
  const progress = { status: cronJob.status };
  const cronJobContext: CronJobRunContext = { ...runContext, cronJob, progress };
  const jobs = await jobsOf(cronJobContext);
  const isDeleting = cronJob.metadata.deletionTimestamp !== undefined;
  let wait: number | undefined;
  try {
    await cleanUpJobs(cronJobContext, jobs);
    await followJobs(cronJobContext, jobs);
    wait = isDeleting ? undefined : await startDue(cronJobContext);
  } finally {
    await writeStatus(cronJobContext);
  }
  if (wait === undefined) return {};
  const least = isSameStatus(cronJob.status, progress.status) ? soonest : 1;
  return { requeueAfter: `${Math.min(Math.max(least, Math.ceil(wait)), maxDuration)}ms` };
}

/** The Jobs that name the CronJob as their controller. */
async function jobsOf({ client, context, cronJob }: CronJobRunContext): Promise<readonly Child[]> {
  const { namespace, name } = cronJob.metadata;
  const all = await client.find(refOf(Job), { namespace, mappedToKey: true, signal: context.signal });
  return all.filter((job) => controllerOf(job.metadata)?.name === name).map((job) => childSchema.parse(job));
}

async function writeStatus({ client, cronJob, progress: { status } }: CronJobRunContext): Promise<void> {
  if (!isSameStatus(cronJob.status, status))
    await client.replace(refOf(CronJob), { ...cronJob, status }, { subresource: "status" });
}
