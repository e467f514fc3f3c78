import { foreignResource } from "@drover/controller";
import {
  conditionSchema,
  countSchema,
  intOrPercentSchema,
  labelSelectorSchema,
  objectSchemaOf,
  podTemplateSchema,
  scaledValue,
} from "@drover/workloads";
import { z } from "zod";

const maxInt32 = 2 ** 31 - 1;

const spec = z.looseObject({
  replicas: countSchema.default(1),
  minReadySeconds: countSchema.default(0),
  paused: z.boolean().default(false),
  // The largest number means "none", as in the documentation of the API.
  progressDeadlineSeconds: countSchema
    .optional()
    .transform((seconds) => (seconds === maxInt32 ? undefined : seconds)),
  revisionHistoryLimit: countSchema.optional().transform((limit) => (limit === maxInt32 ? undefined : limit)),
  selector: labelSelectorSchema,
  strategy: z
    .looseObject({
      type: z.enum(["RollingUpdate", "Recreate"]).default("RollingUpdate"),
      rollingUpdate: z
        .looseObject({
          maxSurge: intOrPercentSchema.default(0),
          maxUnavailable: intOrPercentSchema.default(0),
        })
        .optional(),
    })
    .prefault({}),
  template: podTemplateSchema,
});

/** The conditions of a Deployment also have the time of their last update. */
const datedCondition = conditionSchema.extend({ lastUpdateTime: z.string().nullish() });
export type DeploymentCondition = z.output<typeof datedCondition>;

const status = z.looseObject({
  observedGeneration: countSchema.default(0),
  replicas: countSchema.default(0),
  updatedReplicas: countSchema.default(0),
  readyReplicas: countSchema.default(0),
  availableReplicas: countSchema.default(0),
  unavailableReplicas: countSchema.default(0),
  terminatingReplicas: countSchema.optional(),
  collisionCount: countSchema.optional(),
  conditions: z.array(datedCondition).optional(),
});

/** `apps/v1` Deployment. */
export const Deployment = foreignResource({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  scope: "Namespaced",
  spec,
  status,
});

export const deploymentSchema = objectSchemaOf(spec, status.prefault({}));
export type DeploymentObject = z.output<typeof deploymentSchema>;
export type DeploymentStatus = DeploymentObject["status"];

/** How far a rollout may deviate from the number of replicas in the spec. */
export interface Bounds {
  /** The maximum number of pods above it. */
  readonly maxSurge: number;
  /** The maximum number of pods below it that need not be available. */
  readonly maxUnavailable: number;
}

/**
 * Surge is rounded up and unavailability down. If both were 0, no rollout could begin. Then one pod may be unavailable.
 * Surge stays 0, because a quota may forbid it.
 */
export function boundsOf({ spec: { replicas, strategy } }: Pick<DeploymentObject, "spec">): Bounds {
  if (strategy.type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = strategy.rollingUpdate ?? {};
  const maxSurge = scaledValue(surge, replicas, "up");
  const rounded = scaledValue(unavailable, replicas, "down");
  const maxUnavailable = maxSurge === 0 && rounded === 0 ? 1 : rounded;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}
