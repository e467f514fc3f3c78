import { defineController, type ReconcileContext } from "@drover/controller";
import { Job } from "@drover/job";
import { type Clock, runContextOf } from "@drover/workloads";
import { CronJob } from "./cron-job.ts";
import { reconcileCronJob } from "./reconcile-cron-job.ts";

/** Starts a Job at each time of a schedule. */
export const cronJobController = (now?: Clock) => {
  const run = (context: ReconcileContext<typeof CronJob>) => reconcileCronJob(runContextOf(context, now));
  return defineController({
    name: "cronjob",
    for: CronJob,
    owns: [
      {
        kind: Job,
        changed: ["status.conditions", "status.completionTime", "metadata.ownerReferences"],
        copies: true,
      },
    ],
    copies: true,
    retry: { first: "1s", longest: "1m" },
    reconcile: run,
    whileDeleting: run,
  });
};
