import { type CronJobRunContext, publish } from "./cron-job-run.ts";
import { ScheduleError } from "./schedule/fields.ts";
import { clocksOf } from "./schedule/local-time.ts";
import { readSchedule, type Schedule } from "./schedule/schedule.ts";

/** The schedule of a CronJob that is not suspended. Undefined, with an Event, if it or its zone cannot be read. */
export function scheduleOf(runContext: CronJobRunContext): Schedule | undefined {
  const { schedule, timeZone, suspend } = runContext.cronJob.spec;
  const warn = (reason: string, note: string): void => {
    publish(runContext, reason, note, "Warning");
  };
  if (timeZone !== undefined && !isZone(timeZone)) {
    warn("UnknownTimeZone", `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`);
    return undefined;
  }
  if (suspend) return undefined;
  const quoted = JSON.stringify(schedule);
  if (schedule.includes("TZ"))
    warn(
      "UnsupportedSchedule",
      `CRON_TZ or TZ used in schedule ${quoted} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
    );
  try {
    return readSchedule(schedule, timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone);
  } catch (error) {
    if (!(error instanceof ScheduleError) && !(error instanceof RangeError)) throw error;
    warn("UnparseableSchedule", `unparseable schedule: ${quoted} : ${error.message}`);
    return undefined;
  }
}

function isZone(zone: string): boolean {
  try {
    clocksOf(zone);
    return true;
  } catch {
    return false;
  }
}
