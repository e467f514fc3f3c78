import { foreignResource } from "@drover/controller";
import { conditionSchema, countSchema, objectSchemaOf, timeSchema } from "@drover/workloads";
import { z } from "zod";

const labels = z.record(z.string(), z.string()).default({});
const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

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

/** The fields of a Job that are read. */
export const childSchema = objectSchemaOf(
  z.looseObject({}),
  z
    .looseObject({
      conditions: z.array(conditionSchema).default([]),
      startTime: timeSchema,
      completionTime: optional(z.string()),
    })
    .prefault({}),
);
export type Child = z.output<typeof childSchema>;

/** `Complete` or `Failed` if the Job has finished. */
export const endOf = ({ status: { conditions } }: Child): string | undefined =>
  conditions.find(({ type, status }) => (type === "Complete" || type === "Failed") && status === "True")
    ?.type;
