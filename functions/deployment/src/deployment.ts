import { foreignResource } from "@drover/controller";
import {
  condition,
  count,
  intOrPercent,
  labelSelector,
  objectOf,
  podTemplate,
  scaled,
} from "@drover/workloads";
import { z } from "zod";

const most = 2 ** 31 - 1;

const spec = z.looseObject({
  replicas: count.default(1),
  minReadySeconds: count.default(0),
  paused: z.boolean().default(false),
  // The largest number means "none", as in the documentation of the API.
  progressDeadlineSeconds: count.optional().transform((seconds) => (seconds === most ? undefined : seconds)),
  revisionHistoryLimit: count.optional().transform((limit) => (limit === most ? undefined : limit)),
  selector: labelSelector,
  strategy: z
    .looseObject({
      type: z.enum(["RollingUpdate", "Recreate"]).default("RollingUpdate"),
      rollingUpdate: z
        .looseObject({ maxSurge: intOrPercent.default(0), maxUnavailable: intOrPercent.default(0) })
        .optional(),
    })
    .prefault({}),
  template: podTemplate,
});

/** The conditions of a Deployment also have the time of their last update. */
const datedCondition = condition.extend({ lastUpdateTime: z.string().nullish() });
export type DeploymentCondition = z.output<typeof datedCondition>;

const status = z.looseObject({
  observedGeneration: count.default(0),
  replicas: count.default(0),
  updatedReplicas: count.default(0),
  readyReplicas: count.default(0),
  availableReplicas: count.default(0),
  unavailableReplicas: count.default(0),
  terminatingReplicas: count.optional(),
  collisionCount: count.optional(),
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

export const deploymentSchema = objectOf(spec, status.prefault({}));
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
  const maxSurge = scaled(surge, replicas, "up");
  const rounded = scaled(unavailable, replicas, "down");
  const maxUnavailable = maxSurge === 0 && rounded === 0 ? 1 : rounded;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}
