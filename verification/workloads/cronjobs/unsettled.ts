// The changes to CronJobs that must still come, beside those to their Jobs and pods. No Job is awaited for a time that has
// come: each is created within the time in which nothing must change.
import type { Json } from "../../../packages/sandbox/src/json.ts";
import { unsettled as unsettledJobs } from "../jobs/unsettled.ts";
import type { World } from "../observe.ts";
import { isLeaving, isOwnedBy, nameOf, uidOf } from "../sequences/kinds.ts";
import { firstReason, unownedBy } from "../sequences/settle.ts";
import { activeOf, endOf, timeOf, tooManyKept } from "./cron-job.ts";

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
  return tooManyKept(cronJob, jobs);
}

/** What must still come, for people; undefined when nothing must. */
export function unsettled(world: World, quota: number | undefined): string | undefined {
  const [cronJobs, jobs] = [world.objects("CronJob"), world.objects("Job")];
  const left = unownedBy(jobs, cronJobs, "CronJob");
  if (left !== undefined) return `${nameOf(left)} has lost its owner, and is not collected`;
  return (
    unsettledJobs(world, quota) ??
    firstReason("CronJob", cronJobs, (cronJob) => unsettledCronJob(cronJob, jobs))
  );
}
