// The changes to CronJobs that must still come, beside those to their Jobs and pods.
import { missedTimes } from "../../../functions/cronjob/src/due-time.ts";
import { readSchedule } from "../../../functions/cronjob/src/schedule/schedule.ts";
import { textAt, type Json } from "../../../packages/sandbox/src/json.ts";
import { unsettled as unsettledJobs } from "../jobs/unsettled.ts";
import type { World } from "../observe.ts";
import { isLeaving, isOwnedBy, nameOf, numberAt, uidOf } from "../sequences/kinds.ts";
import { firstReason, unownedBy } from "../sequences/settle.ts";
import { activeOf, endOf, forbids, isSuspended, timeOf, tooManyKept } from "./cron-job.ts";
import { awaitedMs } from "./timetable.ts";

/**
 * Its Job is to start. Which times there are is compared with robfig/cron in `npm run cron`. It is not awaited for long, for
 * there may be reasons not to start it.
 */
function isDue(cronJob: Json, now: number): boolean {
  if (isSuspended(cronJob) || (forbids(cronJob) && activeOf(cronJob).length > 0)) return false;
  const [schedule, zone] = [textAt(cronJob, "spec", "schedule"), textAt(cronJob, "spec", "timeZone")];
  const since =
    textAt(cronJob, "status", "lastScheduleTime") ?? textAt(cronJob, "metadata", "creationTimestamp") ?? "";
  const deadline = numberAt(cronJob, "spec", "startingDeadlineSeconds") ?? Infinity;
  const earliest = Math.max(Date.parse(since) / 1_000, now / 1_000 - deadline);
  const due = missedTimes(readSchedule(schedule ?? "", zone ?? "UTC"), earliest, now / 1_000)?.latest;
  return due !== undefined && now - due * 1_000 < awaitedMs;
}

function unsettledCronJob(cronJob: Json, jobs: readonly Json[]): string | undefined {
  if (isLeaving(cronJob)) return "is on its way out";
  const active = new Set(activeOf(cronJob));
  const theirs = jobs.filter((job) => isOwnedBy(job, cronJob));
  const ended = theirs.find((job) => endOf(job) !== undefined && active.has(uidOf(job)));
  if (ended !== undefined) return `has not seen that ${nameOf(ended)} has ended`;
  const fresh = theirs.find(
    (job) => timeOf(job) !== undefined && endOf(job) === undefined && !active.has(uidOf(job)),
  );
  if (fresh !== undefined) return `has not noted ${nameOf(fresh)}`;
  return isDue(cronJob, Date.now()) ? "is to start a Job" : tooManyKept(cronJob, jobs);
}

/** A change that is still to come, in words; undefined if there is none. */
export function unsettled(world: World, quota: number | undefined): string | undefined {
  const [cronJobs, jobs] = [world.objects("CronJob"), world.objects("Job")];
  const left = unownedBy(jobs, cronJobs, "CronJob");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  return (
    unsettledJobs(world, quota) ??
    firstReason("CronJob", cronJobs, (cronJob) => unsettledCronJob(cronJob, jobs))
  );
}
