// Fields of a CronJob and its Jobs.
import { field, listAt, textAt, type Json } from "../../../packages/sandbox/src/json.ts";
import { conditionOf, isOwnedBy, numberAt } from "../sequences/kinds.ts";

/** The time that a Job was started for; Jobs that users make have none. */
export const timeAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp";
export const timeOf = (job: Json): string | undefined =>
  textAt(job, "metadata", "annotations", timeAnnotation);

export type End = "Complete" | "Failed";
/** How it ended. */
export const endOf = (job: Json): End | undefined =>
  (["Complete", "Failed"] as const).find((end) => textAt(conditionOf(job, end), "status") === "True");

/** How many Jobs that ended so are kept. */
export const limitOf = (cronJob: Json, end: End): number =>
  end === "Complete"
    ? (numberAt(cronJob, "spec", "successfulJobsHistoryLimit") ?? 3)
    : (numberAt(cronJob, "spec", "failedJobsHistoryLimit") ?? 1);

export const isSuspended = (cronJob: Json): boolean => field(cronJob, "spec", "suspend") === true;
export const forbids = (cronJob: Json): boolean => textAt(cronJob, "spec", "concurrencyPolicy") === "Forbid";
/** Uids of the Jobs that its status names. */
export const activeOf = (cronJob: Json): readonly string[] =>
  listAt(cronJob, "status", "active").map((one) => textAt(one, "uid") ?? "");

/** Why there are more finished Jobs of a CronJob than it keeps, for people. */
export function tooManyKept(cronJob: Json, jobs: readonly Json[]): string | undefined {
  for (const end of ["Complete", "Failed"] as const) {
    const { length } = jobs.filter((job) => isOwnedBy(job, cronJob) && endOf(job) === end);
    const most = limitOf(cronJob, end);
    if (length > most) return `has ${length} Jobs with ${end}, and keeps ${most}`;
  }
  return undefined;
}
