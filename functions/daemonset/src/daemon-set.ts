import { foreignResource } from "@drover/controller";
import {
  countSchema,
  intOrPercentSchema,
  labelSelectorSchema,
  objectSchemaOf,
  optional,
  podTemplateSchema,
  scaledValue,
} from "@drover/workloads";
import { z } from "zod";
import { affinitySchema } from "./nodes/node-affinity.ts";
import { tolerationSchema } from "./nodes/tolerations.ts";

/** The fields of a pod template that decide on which nodes its pods run. Others are passed on unchanged. */
const placedTemplate = podTemplateSchema.extend({
  spec: z.looseObject({
    nodeName: optional(z.string()),
    nodeSelector: optional(z.record(z.string(), z.string())),
    affinity: affinitySchema,
    tolerations: optional(z.array(tolerationSchema)),
    hostNetwork: optional(z.boolean()),
  }),
});
export type PlacedTemplate = z.output<typeof placedTemplate>;

const spec = z.looseObject({
  selector: labelSelectorSchema,
  template: placedTemplate,
  minReadySeconds: countSchema.default(0),
  revisionHistoryLimit: countSchema.default(10),
  updateStrategy: z
    .looseObject({
      type: z.enum(["RollingUpdate", "OnDelete"]).default("RollingUpdate"),
      rollingUpdate: optional(
        z.looseObject({
          maxUnavailable: intOrPercentSchema.default(1),
          maxSurge: intOrPercentSchema.default(0),
        }),
      ),
    })
    .prefault({}),
});

const status = z.looseObject({
  currentNumberScheduled: countSchema.default(0),
  numberMisscheduled: countSchema.default(0),
  desiredNumberScheduled: countSchema.default(0),
  numberReady: countSchema.default(0),
  updatedNumberScheduled: countSchema.default(0),
  numberAvailable: countSchema.default(0),
  numberUnavailable: countSchema.default(0),
  observedGeneration: countSchema.default(0),
  collisionCount: optional(countSchema),
});
export type DaemonSetStatus = z.output<typeof status>;

/** `apps/v1` DaemonSet. */
export const DaemonSet = foreignResource({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  scope: "Namespaced",
  spec,
  status,
});

export const daemonSetSchema = objectSchemaOf(spec, status.prefault({}));
export type DaemonSetObject = z.output<typeof daemonSetSchema>;

const strategyOf = ({ spec: { updateStrategy } }: DaemonSetObject) =>
  updateStrategy.type === "RollingUpdate" ? updateStrategy.rollingUpdate : undefined;

/** True if a node may have a second pod while its first one is replaced. */
export const allowsSurge = (daemonSet: DaemonSetObject): boolean =>
  scaledValue(strategyOf(daemonSet)?.maxSurge ?? 0, 1, "up") > 0;

/** The bounds of a rolling update for so many nodes. At least one of them is not zero. */
export function boundsOf(
  daemonSet: DaemonSetObject,
  nodes: number,
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = strategyOf(daemonSet) ?? {};
  const surge = scaledValue(maxSurge, nodes, "up");
  const unavailable = scaledValue(maxUnavailable, nodes, "up");
  const isStuck = nodes > 0 && surge === 0 && unavailable === 0;
  return { maxSurge: surge, maxUnavailable: isStuck ? 1 : unavailable };
}
