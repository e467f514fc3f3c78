import { foreignResource } from "@drover/controller";
import { z } from "zod";
import { conditionSchema } from "./condition.ts";
import { countSchema, labelSelectorSchema, objectSchemaOf, podTemplateSchema } from "./object-schemas.ts";

const spec = z.looseObject({
  replicas: countSchema.default(1),
  minReadySeconds: countSchema.default(0),
  selector: labelSelectorSchema,
  template: podTemplateSchema,
});

const status = z.looseObject({
  replicas: countSchema.default(0),
  fullyLabeledReplicas: countSchema.default(0),
  readyReplicas: countSchema.default(0),
  availableReplicas: countSchema.default(0),
  terminatingReplicas: countSchema.optional(),
  observedGeneration: countSchema.default(0),
  conditions: z.array(conditionSchema).optional(),
});

/** `apps/v1` ReplicaSet. */
export const ReplicaSet = foreignResource({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  scope: "Namespaced",
  spec,
  status,
});

export const replicaSetSchema = objectSchemaOf(spec, status.prefault({}));
export type ReplicaSetObject = z.output<typeof replicaSetSchema>;
