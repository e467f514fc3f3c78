import { foreignResource } from "@drover/controller";
import { z } from "zod";
import { condition } from "./condition.ts";
import { count, labelSelector, objectOf, podTemplate } from "./object.ts";

const spec = z.looseObject({
  replicas: count.default(1),
  minReadySeconds: count.default(0),
  selector: labelSelector,
  template: podTemplate,
});

const status = z.looseObject({
  replicas: count.default(0),
  fullyLabeledReplicas: count.default(0),
  readyReplicas: count.default(0),
  availableReplicas: count.default(0),
  terminatingReplicas: count.optional(),
  observedGeneration: count.default(0),
  conditions: z.array(condition).optional(),
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

export const replicaSetSchema = objectOf(spec, status.prefault({}));
export type ReplicaSetObject = z.output<typeof replicaSetSchema>;
