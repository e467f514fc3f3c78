// The times that are due have passed before the test's clock begins, and the next ones are months away: so a CronJob rests.
import { faultScenario, type FunctionUnderTest, type Manifest, type User } from "@drover/testing";
import { cronJobController } from "./cron-job-controller.ts";
import deployedAs from "./function.ts";

const start: FunctionUnderTest = ({ now }) => cronJobController(now);

const cronJobs = { apiVersion: "batch/v1", kind: "CronJob" };
const jobs = { apiVersion: "batch/v1", kind: "Job" };
const metadata = { name: "tick" };

const cronJob = (spec: object): Manifest => ({
  ...cronJobs,
  metadata,
  spec: {
    timeZone: "Etc/UTC",
    jobTemplate: {
      spec: {
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "tick:1" }] } },
      },
    },
    ...spec,
  },
});
const newYear = "0 0 1 1 *";
const dayBefore = "0 0 31 12 *";

/** As if its last Job had started then: the API server says that the CronJob was created today. */
const since = (lastScheduleTime: string) => ({
  title: `the last Job was that of ${lastScheduleTime}`,
  act: (user: User) => user.writeStatus({ ...cronJobs, metadata, status: { lastScheduleTime } }),
});

/** Does what a controller of Jobs does when the pods of all Jobs have ended. */
const end = (type: "Complete" | "Failed") => ({
  title: `the Jobs end with ${type}`,
  act: async (user: User) => {
    const at = "2026-01-01T00:00:00Z";
    const condition = (of: string) => ({ type: of, status: "True", lastTransitionTime: at, reason: "x" });
    const criterion = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
    for (const job of await user.list(jobs))
      await user.writeStatus({
        ...jobs,
        metadata: { name: job.metadata.name },
        status: {
          startTime: at,
          conditions: [criterion, type].map(condition),
          ...(type === "Complete" && { completionTime: at, succeeded: 1 }),
        },
      });
  },
});

const except = { "deleted after step": "a time starts one Job, also if a user deletes it" };
const suspended = { schedule: newYear, suspend: true };
const resumed = { schedule: newYear, suspend: false };

export const ticked = faultScenario({
  name: "a CronJob is resumed after a time, and its Job succeeds",
  start,
  deployedAs,
  except,
  steps: [
    { apply: cronJob(suspended) },
    since("2025-12-31T00:00:00Z"),
    { apply: cronJob(resumed) },
    end("Complete"),
    { delete: { ...cronJobs, name: "tick" } },
  ],
});

export const forgotten = faultScenario({
  name: "a CronJob that keeps no failed Jobs deletes one",
  start,
  deployedAs,
  except,
  steps: [
    { apply: cronJob({ ...suspended, failedJobsHistoryLimit: 0 }) },
    since("2025-12-31T00:00:00Z"),
    { apply: cronJob({ ...resumed, failedJobsHistoryLimit: 0 }) },
    end("Failed"),
  ],
});

const policy = (concurrencyPolicy: string) => [
  { apply: cronJob({ schedule: dayBefore, suspend: true, concurrencyPolicy }) },
  since("2025-12-30T00:00:00Z"),
  { apply: cronJob({ schedule: dayBefore, suspend: false, concurrencyPolicy }) },
  { apply: cronJob({ schedule: newYear, suspend: false, concurrencyPolicy }) },
];

export const replaced = faultScenario({
  name: "a Job that is active at the next time is replaced",
  start,
  deployedAs,
  except,
  steps: policy("Replace"),
});

export const forbidden = faultScenario({
  name: "no Job starts beside another one, and the missed one once that has ended",
  start,
  deployedAs,
  except: {
    ...except,
    "step 4 with no run after step 3": "no run has seen the first of the two times",
    "and down until step 4 is done": "no run has noted the Job of the first of the two times",
  },
  steps: [...policy("Forbid"), end("Complete")],
});
