import { foreignResource } from "@drover/controller";
import { countSchema, objectSchemaOf, optional } from "@drover/workloads";
import { z } from "zod";

const labels = z.record(z.string(), z.string()).default({});
const spec = z.looseObject({
  schedule: z.string(),
  timeZone: optional(z.string()),
  startingDeadlineSeconds: optional(z.number()),
  concurrencyPolicy: z.enum(["Allow", "Forbid", "Replace"]).default("Allow"),
  suspend: z.boolean().default(false),
  successfulJobsHistoryLimit: optional(countSchema),
  failedJobsHistoryLimit: optional(countSchema),
  jobTemplate: z.looseObject({
    metadata: z.looseObject({ labels, annotations: labels }).prefault({}),
    spec: z.looseObject({}),
  }),
});

const reference = z.looseObject({ name: z.string(), namespace: z.string().optional(), uid: z.string() });
const status = z.looseObject({
  active: z
    .array(reference)
    .nullish()
    .transform((all): readonly z.output<typeof reference>[] => all ?? []),
  /** RFC 3339. */
  lastScheduleTime: optional(z.string()),
  lastSuccessfulTime: optional(z.string()),
});
export type CronJobStatus = z.output<typeof status>;

/** `batch/v1` CronJob. */
export const CronJob = foreignResource({
  group: "batch",
  version: "v1",
  kind: "CronJob",
  scope: "Namespaced",
  spec,
  status,
});

export const cronJobSchema = objectSchemaOf(spec, status.prefault({}));
export type CronJobObject = z.output<typeof cronJobSchema>;
