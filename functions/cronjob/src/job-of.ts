import { controllerReference, type KubeObject, refOf } from "@drover/kube";
import { CronJob, type CronJobObject } from "./cron-job.ts";
import { secondsOf } from "./cron-job-run.ts";
import { clocksOf, type Seconds } from "./schedule/local-time.ts";

/** The name of the Job of a time: the same in every run, so that none is created twice. */
export const jobName = ({ metadata }: CronJobObject, due: Seconds): string =>
  `${metadata.name}-${Math.floor(due / 60)}`;

/** The time of each Job that a CronJob has started. */
const timeAnnotation = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/** The time that a Job was started for; undefined for a Job that has another name than that of its time. */
export function dueTimeOf(cronJob: CronJobObject, { metadata }: KubeObject): Seconds | undefined {
  const due = secondsOf(metadata.annotations?.[timeAnnotation] ?? "");
  return metadata.name === jobName(cronJob, due) ? due : undefined;
}

/** The Job of a time, from the template. */
export function jobOf(cronJob: CronJobObject, due: Seconds) {
  const { metadata, spec } = cronJob;
  const { jobTemplate, timeZone = "UTC" } = spec;
  return {
    metadata: {
      namespace: metadata.namespace ?? "",
      name: jobName(cronJob, due),
      labels: jobTemplate.metadata.labels,
      annotations: {
        ...jobTemplate.metadata.annotations,
        [timeAnnotation]: localTime(due, clocksOf(timeZone).offsetAt(due)),
      },
      ownerReferences: [controllerReference({ ref: refOf(CronJob), metadata })],
    },
    spec: jobTemplate.spec,
  };
}

/** RFC 3339, such as `2026-01-01T02:00:00+02:00`. */
function localTime(time: Seconds, offset: Seconds): string {
  const local = new Date((time + offset) * 1_000).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  const minutes = Math.floor(Math.abs(offset) / 60);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
