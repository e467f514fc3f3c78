import { timestamp } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { publishAs, type WorkloadRunContext } from "@drover/workloads";
import type { CronJob, CronJobObject, CronJobStatus } from "./cron-job.ts";
import type { Seconds } from "./schedule/local-time.ts";

/** The common parts of all steps of a run. */
export interface CronJobRunContext extends WorkloadRunContext<typeof CronJob> {
  readonly cronJob: CronJobObject;
  /** Changed by each step, and written at the end of the run, also of one that fails. */
  readonly progress: { status: CronJobStatus };
}

export const publish = publishAs("Schedule");

export const secondsOf = (time: string): Seconds => Date.parse(time) / 1_000;
export const timeOf = (seconds: Seconds): string => timestamp(new Date(seconds * 1_000));

/** Removes a Job from the active ones. */
export function noteInactive({ progress }: CronJobRunContext, uid: string): void {
  const active = progress.status.active.filter((one) => one.uid !== uid);
  progress.status = { ...progress.status, active };
}

/** Adds the Job of a time to the active ones. */
export function noteActive({ progress }: CronJobRunContext, { metadata }: KubeObject, due: Seconds): void {
  const { namespace, name, uid, resourceVersion } = metadata;
  const job = { kind: "Job", namespace, name, uid, apiVersion: "batch/v1", resourceVersion };
  const { active, lastScheduleTime } = progress.status;
  const last = lastScheduleTime === undefined ? due : Math.max(due, secondsOf(lastScheduleTime));
  progress.status = { ...progress.status, active: [...active, job], lastScheduleTime: timeOf(last) };
}
