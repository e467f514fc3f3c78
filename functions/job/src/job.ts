import { foreignResource } from "@drover/controller";
import {
  conditionSchema,
  countSchema,
  labelSelectorSchema,
  objectSchemaOf,
  optional,
  podTemplateSchema,
} from "@drover/workloads";
import { z } from "zod";

const exitCodes = z.object({
  containerName: z.string().nullish(),
  operator: z.enum(["In", "NotIn"]),
  values: z.array(z.int()),
});
const failureRule = z.object({
  action: z.enum(["FailJob", "FailIndex", "Ignore", "Count"]),
  onExitCodes: exitCodes.nullish(),
  onPodConditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
});
export type FailureRule = z.output<typeof failureRule>;
const successRule = z.object({
  succeededIndexes: z.string().nullish(),
  succeededCount: countSchema.nullish(),
});

const spec = z.looseObject({
  parallelism: countSchema.default(1),
  completions: optional(countSchema),
  activeDeadlineSeconds: optional(countSchema),
  podFailurePolicy: optional(z.object({ rules: z.array(failureRule).default([]) })),
  successPolicy: optional(z.object({ rules: z.array(successRule) })),
  backoffLimit: countSchema.default(6),
  backoffLimitPerIndex: optional(countSchema),
  maxFailedIndexes: optional(countSchema),
  selector: labelSelectorSchema,
  template: podTemplateSchema,
  ttlSecondsAfterFinished: optional(countSchema),
  completionMode: z.enum(["NonIndexed", "Indexed"]).default("NonIndexed"),
  suspend: z.boolean().default(false),
  podReplacementPolicy: z.enum(["TerminatingOrFailed", "Failed"]).default("TerminatingOrFailed"),
  managedBy: optional(z.string()),
});
export type JobSpec = z.output<typeof spec>;

const uids = z
  .array(z.string())
  .nullish()
  .transform((all): readonly string[] => all ?? []);
const uncounted = z.object({ succeeded: uids, failed: uids });

const status = z.looseObject({
  conditions: z.array(conditionSchema).default([]),
  startTime: optional(z.string()),
  completionTime: optional(z.string()),
  active: countSchema.default(0),
  succeeded: countSchema.default(0),
  failed: countSchema.default(0),
  terminating: optional(countSchema),
  ready: optional(countSchema),
  completedIndexes: z.string().default(""),
  failedIndexes: optional(z.string()),
  /**
   * Uids of pods that have ended and are not in `succeeded` or `failed` yet. Each is added to these once its pod has lost its
   * finalizer. Undefined before the first run.
   */
  uncountedTerminatedPods: optional(uncounted),
});
export type JobStatus = z.output<typeof status>;

/** `batch/v1` Job. */
export const Job = foreignResource({
  group: "batch",
  version: "v1",
  kind: "Job",
  scope: "Namespaced",
  spec,
  status,
});

export const jobSchema = objectSchemaOf(spec, status.prefault({}));
export type JobObject = z.output<typeof jobSchema>;

/** Holds a pod until the Job's status has counted it. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

export const isIndexed = ({ completionMode }: JobSpec): boolean => completionMode === "Indexed";

/** True if a pod that is being deleted is replaced only once it has ended: a failure policy needs its exit code. */
export const replacesEndedOnly = ({ podReplacementPolicy, podFailurePolicy }: JobSpec): boolean =>
  podReplacementPolicy === "Failed" || podFailurePolicy !== undefined;

/** The value of `managedBy` that means this controller, as does none. */
const ownName = "kubernetes.io/job-controller";
export const isManagedByOther = ({ managedBy }: JobSpec): boolean =>
  managedBy !== undefined && managedBy !== ownName;

/** The condition with which the Job has finished; undefined if it has not. */
export const finishedCondition = ({ conditions }: JobStatus) =>
  conditions.find(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True");
