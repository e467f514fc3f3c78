import { z } from "zod";

const streamState = z.object({
  state: z.enum(["Listing", "Following", "Degraded"]),
  reason: z.string(),
  message: z.string(),
});

const campaignProgress = z.object({
  name: z.string(),
  state: z.enum(["Running", "Paused", "Done"]),
  startedAt: z.string(),
  doneAt: z.string().optional(),
  total: z.int().meta({ description: "Number of objects at the last count." }),
  left: z.int().meta({ description: "Number of these objects without a run that started since startedAt." }),
});

/** The state of the roll-out of the Pod template. */
const rollout = z.object({
  revision: z
    .int()
    .meta({ description: "Increases with every change; a key never goes back to an older one." }),
  template: z.string().meta({
    description: "Fingerprint of this revision's Pod template; empty if it has no container any more.",
  }),
  complete: z.int().optional().meta({
    description: "The last revision that was rolled out: a Pod of it was Ready, and no older Pod is left.",
  }),
  tried: z.string().optional().meta({
    description: "Fingerprint of the last container that had a Ready Pod.",
  }),
});

const scaled = z.object({
  wanted: z.int().meta({ description: "Wanted number of Pods." }),
  by: z.literal("KEDA").optional(),
  fewerSince: z.string().optional().meta({ description: "Since when fewer Pods would be enough." }),
  fewer: z.int().optional().meta({ description: "The highest number of Pods that were wanted since then." }),
});

/** The status of a ReconcileFunction: the bridge writes the first three fields, the deployer the others. */
export const functionStatus = z.object({
  problem: z.string().optional().meta({ description: "Why the function is not in use." }),
  follows: z.record(z.string(), streamState).optional().meta({
    description: "State of the watch of each kind, by plural.group.",
  }),
  campaign: campaignProgress.optional().meta({ description: "Progress of the last campaign." }),
  delivered: z.enum(["pull", "webhook"]).optional().meta({
    description: "The delivery that the function's accounts, roles and secrets are for.",
  }),
  rollout: rollout.optional(),
  scaling: scaled.optional(),
  replicas: z.int().optional().meta({ description: "Number of Pods." }),
  selector: z.string().optional().meta({ description: "Label selector of its Pods, for autoscalers." }),
  readyReplicas: z.int().optional().meta({ description: "Number of Ready Pods of this revision." }),
  due: z.int().optional().meta({ description: "Keys that are due, and not paused." }),
  oldestDueSeconds: z.int().optional().meta({ description: "How long the oldest due key has waited." }),
  running: z.int().optional().meta({ description: "Keys with a run in progress." }),
  parked: z.int().optional().meta({ description: "Keys that are parked until their objects change." }),
  failing: z.int().optional().meta({ description: "Keys with a failed last run." }),
  pausedKeys: z.int().optional().meta({ description: "Keys that would be due, but are paused." }),
  paused: z.boolean().optional().meta({ description: "True if spec.paused is set: no run starts." }),
});
