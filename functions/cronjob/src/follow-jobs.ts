import { objectKey } from "@drover/controller";
import { finishedCondition, Job, type JobObject } from "@drover/job";
import { isControlledBy, refOf } from "@drover/kube";
import { type CronJobRunContext, noteActive, noteInactive, publish } from "./cron-job-run.ts";
import { dueTimeOf } from "./job-of.ts";
import type { Seconds } from "./schedule/local-time.ts";

/** Notes the Jobs that have ended or are missing: they are no longer active. */
export async function followJobs(runContext: CronJobRunContext, jobs: readonly JobObject[]): Promise<void> {
  for (const job of jobs) followJob(runContext, job);
  const { client, context, cronJob, progress } = runContext;
  const { namespace = "" } = cronJob.metadata;
  const found = new Set(jobs.map(({ metadata }) => metadata.uid));
  for (const { name, uid } of progress.status.active) {
    if (found.has(uid)) continue;
    const key = objectKey({ namespace, name });
    if ((await client.get(refOf(Job), key, { signal: context.signal })) !== undefined) continue;
    publish(runContext, "MissingJob", `Active job went missing: ${name}`);
    noteInactive(runContext, uid);
  }
}

/** The time of a Job that was started by a run that was killed before it noted that. No other one may start beside it. */
function forgottenTime({ cronJob, now }: CronJobRunContext, job: JobObject): Seconds | undefined {
  const due = dueTimeOf(cronJob, job);
  const isOurs =
    isControlledBy(job.metadata, cronJob.metadata) && job.metadata.deletionTimestamp === undefined;
  return due !== undefined && isOurs && due * 1_000 <= now().getTime() ? due : undefined;
}

function followJob(runContext: CronJobRunContext, job: JobObject): void {
  const { progress } = runContext;
  const { name, uid } = job.metadata;
  const isActive = progress.status.active.some((one) => one.uid === uid);
  const end = finishedCondition(job.status)?.type;
  if (end === undefined && !isActive) {
    const due = forgottenTime(runContext, job);
    if (due !== undefined) {
      noteActive(runContext, job, due);
      return;
    }
    const note = `Saw a job that the controller did not create or forgot: ${name}`;
    publish(runContext, "UnexpectedJob", note, "Warning");
  }
  if (end !== undefined && isActive) {
    noteInactive(runContext, uid);
    publish(runContext, "SawCompletedJob", `Saw completed job: ${name}, condition: ${end}`);
  }
  const { completionTime } = job.status;
  const before = progress.status.lastSuccessfulTime ?? "1970-01-01";
  if (end === "Complete" && Date.parse(completionTime ?? "") > Date.parse(before))
    progress.status = { ...progress.status, lastSuccessfulTime: completionTime };
}
