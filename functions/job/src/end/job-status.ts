import { timestamp } from "@drover/controller";
import { refOf } from "@drover/kube";
import { replaceStatus } from "@drover/workloads";
import { Job, type JobObject, jobSchema, type JobStatus } from "../job.ts";
import { type JobEnd, stating } from "./job-conditions.ts";
import type { JobRunContext } from "../job-run.ts";

/** Writes a status if it differs from the one of `job`, for the version that was read. Returns the Job as it is then. */
export async function writeStatus(
  { client }: Pick<JobRunContext, "client">,
  job: JobObject,
  status: JobStatus,
): Promise<JobObject> {
  const written = await replaceStatus({ client }, refOf(Job), job, status);
  return written === undefined ? job : jobSchema.parse(written);
}

/** True if all pods of a Job that ends are counted, and none still ends. */
export function mayFinish({ uncountedTerminatedPods, terminating = 0 }: JobStatus): boolean {
  const { succeeded, failed } = uncountedTerminatedPods ?? { succeeded: [], failed: [] };
  return succeeded.length + failed.length + terminating === 0;
}

/** The status of a Job that has finished. */
export const finishedStatus = (
  status: JobStatus,
  { type, reason, message }: JobEnd,
  now: Date,
): JobStatus => ({
  ...status,
  conditions: stating(status.conditions, { type, status: "True", reason, message }, now),
  ...(type === "Complete" && { completionTime: timestamp(now) }),
});

/** Publishes the Events about the end of a Job. */
export function publishEnd(
  { context: { announce }, job: { spec } }: JobRunContext,
  { succeeded }: JobStatus,
  { type, reason, message }: JobEnd,
): void {
  const action = "FinishJob";
  if (type === "Failed") {
    announce({ type: "Warning", reason, note: message, action });
    return;
  }
  if (spec.completions !== undefined && succeeded > spec.completions)
    announce({
      type: "Warning",
      reason: "TooManySucceededPods",
      note: "Too many succeeded pods running after completion count reached",
      action,
    });
  announce({ type: "Normal", reason: "Completed", note: "Job completed", action });
}
