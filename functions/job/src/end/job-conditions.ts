import { type Announcement, timestamp } from "@drover/controller";
import { conditionOf } from "@drover/workloads";
import type { JobObject, JobStatus } from "../job.ts";

type Conditions = JobStatus["conditions"];

/** Why a Job ends. */
export interface JobEnd {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

interface Statement extends Omit<JobEnd, "type"> {
  readonly type: string;
  readonly status: "True" | "False";
}

/** The conditions with this one, in the place of another one of its type. The same list if it states nothing new. */
export function stating(conditions: Conditions, stated: Statement, now: Date): Conditions {
  const { type, status, reason, message } = stated;
  const before = conditionOf(conditions, type);
  if (before?.status === status && before.reason === reason && before.message === message) return conditions;
  const time = timestamp(now);
  const condition = { type, status, lastProbeTime: time, lastTransitionTime: time, reason, message };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((one) => (one === before ? condition : one));
}

/**
 * A Job ends in two steps. As soon as its end is decided it gets one of these conditions: no more pods are created, and
 * later runs keep the decision. It gets `Complete` or `Failed` only when every pod is counted and none is terminating, so
 * that users may rely on the final counts.
 */
const interim = { Complete: "SuccessCriteriaMet", Failed: "FailureTarget" } as const;

/** The end that an earlier run has decided. */
export function decidedEnd({ conditions }: JobStatus): JobEnd | undefined {
  for (const type of ["Complete", "Failed"] as const) {
    const found = conditionOf(conditions, interim[type]);
    if (found?.status === "True") return { type, reason: found.reason ?? "", message: found.message ?? "" };
  }
  return undefined;
}

/** The status with the decision that the Job ends; a Job that goes on keeps its own. */
export function withInterimCondition(status: JobStatus, end: JobEnd | undefined, now: Date): JobStatus {
  if (end === undefined || decidedEnd(status)?.type === end.type) return status;
  const { reason, message } = end;
  const stated = { type: interim[end.type], status: "True", reason, message } as const;
  return { ...status, conditions: stating(status.conditions, stated, now) };
}

const suspended = {
  type: "Suspended",
  status: "True",
  reason: "JobSuspended",
  message: "Job suspended",
} as const;
const resumed = { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" } as const;

/** The status that states if the Job is suspended, and the Event about a change of that. */
export function withSuspension(
  { spec, status }: JobObject,
  now: Date,
): { readonly status: JobStatus; readonly announcement: Announcement | undefined } {
  const stated = spec.suspend ? suspended : resumed;
  const isStated = conditionOf(status.conditions, stated.type) !== undefined;
  const conditions = spec.suspend || isStated ? stating(status.conditions, stated, now) : status.conditions;
  if (conditions === status.conditions) return { status, announcement: undefined };
  // `activeDeadlineSeconds` are those since the Job was last resumed.
  const startTime = spec.suspend ? undefined : timestamp(now);
  const reason = spec.suspend ? "Suspended" : "Resumed";
  return {
    status: { ...status, conditions, startTime },
    announcement: { type: "Normal", reason, note: stated.message, action: "Suspend" },
  };
}
