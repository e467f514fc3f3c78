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
  // The largest number that there is stands for none, as in the API's own words.
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

/** A Deployment's conditions say when they were last looked at, too. */
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

/** How far a rollout may leave the number of replicas that is asked for. */
export interface Bounds {
  /** Pods above it. */
  readonly maxSurge: number;
  /** Pods below it that need not be available. */
  readonly maxUnavailable: number;
}

/**
 * Surge is rounded up and unavailability down. Both may not be nothing, or no rollout could begin: then one pod may be
 * unavailable, for surge may be what a quota forbids.
 */
export function boundsOf({ spec: { replicas, strategy } }: Pick<DeploymentObject, "spec">): Bounds {
  if (strategy.type !== "RollingUpdate") return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = strategy.rollingUpdate ?? {};
  const maxSurge = scaled(surge, replicas, "up");
  const rounded = scaled(unavailable, replicas, "down");
  const maxUnavailable = maxSurge === 0 && rounded === 0 ? 1 : rounded;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}
