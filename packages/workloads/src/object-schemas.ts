import { kubeObjectSchema } from "@drover/kube";
import { z } from "zod";

/** A count as Kubernetes writes it: 32 bits; absent if it is the default. */
export const countSchema = z.int().min(0);

/** A field that may be null or absent: undefined then. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A time as Kubernetes writes it, to the second, as milliseconds since 1970; undefined if it is null or absent. */
export const timeSchema = z
  .string()
  .nullish()
  .transform((text) => (text == null ? undefined : Date.parse(text)));

const requirementSchema = z.union([
  z.object({ key: z.string(), operator: z.enum(["In", "NotIn"]), values: z.array(z.string()) }),
  z.object({ key: z.string(), operator: z.enum(["Exists", "DoesNotExist"]) }),
]);

/** `meta/v1` LabelSelector. */
export const labelSelectorSchema = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z.array(requirementSchema).optional(),
});

/** A pod template. Fields that are not listed here are passed on unchanged. */
export const podTemplateSchema = z.looseObject({
  metadata: z
    .looseObject({
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
      finalizers: z.array(z.string()).optional(),
    })
    .nullish()
    .transform((metadata) => metadata ?? {}),
  spec: z.looseObject({}).optional(),
});
export type PodTemplate = z.output<typeof podTemplateSchema>;

/** The schema of a kind's objects, from the schemas of the fields that are read in their spec and status. */
export const objectSchemaOf = <Spec extends z.ZodType, Status extends z.ZodType>(
  spec: Spec,
  status: Status,
) => z.looseObject({ ...kubeObjectSchema.shape, spec, status });
