import { type Milliseconds, objectKey } from "@drover/controller";
import { Job, jobSchema } from "@drover/job";
import { isApiError, isControlledBy, refOf, WriteRefusedError } from "@drover/kube";
import { isNamespaceTerminating, serverMessageOf } from "@drover/workloads";
import { deleteJob } from "./clean-up-jobs.ts";
import { type CronJobRunContext, noteActive, publish, secondsOf } from "./cron-job-run.ts";
import { missedTimes } from "./due-time.ts";
import { jobName, jobOf } from "./job-of.ts";
import { scheduleOf } from "./schedule-of.ts";
import type { Seconds } from "./schedule/local-time.ts";

/** Runs come a little late, so that a clock that is a little behind does not miss a time. */
const delay: Milliseconds = 100;
/** With more missed times than this, an Event says so. */
const tooMany = 100;

/**
 * Starts the Job of the last time that was missed, if there is one and nothing prevents it. Returns the time until the next
 * run. The clock is read once: a time that passes meanwhile is one of the next run.
 */
export async function startDue(runContext: CronJobRunContext): Promise<Milliseconds | undefined> {
  const { cronJob, progress } = runContext;
  const { startingDeadlineSeconds = Infinity, schedule: text } = cronJob.spec;
  const schedule = scheduleOf(runContext);
  if (schedule === undefined) return undefined;
  const now = runContext.now().getTime() / 1_000;
  /** The last time for which a Job started, or the CronJob's creation. */
  const begin = (): Seconds =>
    secondsOf(progress.status.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? "");
  const missed = missedTimes(schedule, Math.max(begin(), now - startingDeadlineSeconds), now);
  if (missed === undefined) {
    const note = `invalid schedule: ${text} : time difference between two schedules is less than 1 second`;
    publish(runContext, "InvalidSchedule", note, "Warning");
    return undefined;
  }
  const { latest: due, count } = missed;
  if (due !== undefined && count > tooMany)
    publish(
      runContext,
      "TooManyMissedTimes",
      "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
      "Warning",
    );
  const isForgotten = due !== undefined && mayStart(runContext, due) && (await start(runContext, due));
  // It may have ended, and nothing else would cause a run.
  if (isForgotten) return 1_000;
  const next = missedTimes(schedule, begin(), now)?.next;
  return next === undefined ? undefined : (next - now) * 1_000 + delay;
}

function mayStart(runContext: CronJobRunContext, due: Seconds): boolean {
  const { cronJob, progress } = runContext;
  const { active } = progress.status;
  if (active.some(({ name }) => name === jobName(cronJob, due))) return false;
  if (cronJob.spec.concurrencyPolicy !== "Forbid" || active.length === 0) return true;
  publish(
    runContext,
    "JobAlreadyActive",
    "Not starting job because prior execution is running and concurrency policy is Forbid",
  );
  return false;
}

/** Starts the Job of a time. Returns true if a run that was interrupted has created it. */
async function start(runContext: CronJobRunContext, due: Seconds): Promise<boolean> {
  const { client, context, cronJob } = runContext;
  if (cronJob.spec.concurrencyPolicy === "Replace") await deleteActive(runContext);
  const wanted = jobOf(cronJob, due);
  try {
    const made = await client.create(refOf(Job), wanted, { signal: context.signal });
    publish(runContext, "SuccessfulCreate", `Created job ${made.metadata.name}`);
    noteActive(runContext, made, due);
    return false;
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) {
      if (!(error instanceof WriteRefusedError) && !isNamespaceTerminating(error))
        publish(runContext, "FailedCreate", `Error creating job: ${serverMessageOf(error)}`, "Warning");
      throw error;
    }
    const found = await client.get(refOf(Job), objectKey(wanted.metadata), { signal: context.signal });
    // It is gone by now: the next run creates it.
    if (found === undefined) throw error;
    // A Job with another owner is not changed.
    if (!isControlledBy(found.metadata, cronJob.metadata)) return false;
    noteActive(runContext, found, due);
    return true;
  }
}

async function deleteActive(runContext: CronJobRunContext): Promise<void> {
  const { client, context, cronJob, progress } = runContext;
  const { namespace = "" } = cronJob.metadata;
  for (const { name } of progress.status.active) {
    const key = objectKey({ namespace, name });
    const job = await client.get(refOf(Job), key, { signal: context.signal }).catch((error: unknown) => {
      publish(runContext, "FailedGet", `Get job: ${serverMessageOf(error)}`, "Warning");
      throw error;
    });
    if (job === undefined || !(await deleteJob(runContext, jobSchema.parse(job))))
      throw new Error(`could not replace job ${key}`);
  }
}
