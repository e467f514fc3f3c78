import { z } from "zod";
import { durationSchema } from "../duration.ts";
import { hookDeclaration } from "./hook-declaration.ts";
import {
  containerDeclaration,
  runSettingsDeclaration,
  permissionsDeclaration,
  scalingDeclaration,
  webhookDeclaration,
} from "./deployment-declarations.ts";
import { functionStatus } from "./function-status.ts";
import { defineResource } from "../resource/resource.ts";
import { checkedAtRun } from "../structural/checks.ts";
import { kindTwiceIn, ownedTwice } from "../definition/watched-kinds.ts";
import { ownedKind, watchedByName, watchedKind } from "./watched-kind-declaration.ts";

const campaign = z.strictObject({
  name: z.string().min(1).max(63).meta({ description: "Another name begins another campaign." }),
  perSecond: z.int().min(1).max(10_000).optional().meta({
    description: "Maximum number of objects per second. Default 50.",
  }),
  paused: z.boolean().optional().meta({ description: "Wake no objects for the time being." }),
});
export type Campaign = z.output<typeof campaign>;

/**
 * kubectl scale writes `replicas`, which has an effect only on functions that KEDA scales. For others a new value is
 * refused. An old value that was left there does not cause other changes to be refused, and neither does 0, the default.
 */
const scaledByKeda = {
  rule:
    "!has(self.scaling) || !has(self.scaling.replicas) || self.scaling.replicas == 0 || " +
    "(has(self.scaling.by) && self.scaling.by == 'KEDA') || " +
    "(has(oldSelf.scaling) && has(oldSelf.scaling.replicas) && oldSelf.scaling.replicas == self.scaling.replicas)",
  message: "Drover scales this function by what is due: set scaling.min and scaling.max instead of replicas",
};

/**
 * A deployed controller: the kind that it is for and the kinds that affect it (for the bridge), how it runs and scales
 * (for the deployer), and how it is called (for the gateway). Its queue belongs to this one object (`queueOf`): another
 * object of the same name, in another namespace or at another time, has another queue.
 */
export const ReconcileFunction = defineResource({
  group: "drover.dev",
  version: "v1alpha1",
  kind: "ReconcileFunction",
  scope: "Namespaced",
  shortNames: ["rf"],
  description: "A controller, deployed as a function.",
  spec: z
    .strictObject({
      for: watchedKind,
      owns: z
        .array(ownedKind)
        .max(50)
        .refine((owns) => kindTwiceIn(owns) === undefined, { error: ownedTwice, ...checkedAtRun })
        .optional()
        .meta({
          description: "Kinds with objects that affect their controller owner, if it is of the kind `for`.",
        }),
      watches: z.array(watchedByName).max(50).optional().meta({
        description: "Other kinds; `names` finds the objects of `for` that an object of them affects.",
      }),
      hooks: z.array(hookDeclaration).max(20).optional().meta({
        description: "Events from outside the cluster that affect objects of the kind `for`.",
      }),
      copies: z
        .boolean()
        .optional()
        .meta({
          description:
            "Runs may get a copy of their object from the watch or from the last run, if it is at least as new as all " +
            "that runs have read or written. Left out: they read it live.",
        }),
      copiesFor: durationSchema.optional().meta({
        description: "How long what a run has read is kept for the next run. Default 10s, at most 24h.",
      }),
      campaign: campaign.optional().meta({
        description: "Reconcile every object once more, for example after a bug was fixed.",
      }),
      ...runSettingsDeclaration,
      paused: z
        .boolean()
        .optional()
        .meta({ description: "Start no run, not even for objects that are being deleted." }),
      delivery: z.enum(["pull", "webhook"]).optional().meta({
        description:
          "pull: it takes keys from Redis itself. webhook: the gateway takes them and calls it. Default pull.",
      }),
      webhook: webhookDeclaration.optional(),
      container: containerDeclaration.optional(),
      permissions: permissionsDeclaration.optional(),
      scaling: scalingDeclaration.optional(),
      onRollout: z
        .enum(["retry", "campaign", "none"])
        .optional()
        .meta({
          description:
            "Which objects a new version of the container reconciles once more. retry: those that failed or are parked; " +
            "campaign: all; none: no object. Default retry.",
        }),
    })
    .meta({ kubernetes: { cel: [scaledByKeda] } }),
  status: functionStatus,
  scale: {
    specReplicasPath: ".spec.scaling.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  printerColumns: [
    { name: "Pods", type: "integer", jsonPath: ".status.replicas" },
    { name: "Due", type: "integer", jsonPath: ".status.due" },
    { name: "Failing", type: "integer", jsonPath: ".status.failing" },
    { name: "Parked", type: "integer", jsonPath: ".status.parked" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: "RolledOut", type: "string", jsonPath: '.status.conditions[?(@.type=="RolledOut")].status' },
    { name: "Paused", type: "boolean", jsonPath: ".status.paused" },
    { name: "Problem", type: "string", jsonPath: ".status.problem", priority: 1 },
    { name: "Campaign", type: "string", jsonPath: ".status.campaign.state", priority: 1 },
    { name: "Left", type: "integer", jsonPath: ".status.campaign.left", priority: 1 },
  ],
});

export type ReconcileFunctionStatus = z.output<(typeof ReconcileFunction)["status"]>;
export type CampaignProgress = NonNullable<ReconcileFunctionStatus["campaign"]>;
export type ReconcileFunctionSpec = z.output<(typeof ReconcileFunction)["spec"]>;
