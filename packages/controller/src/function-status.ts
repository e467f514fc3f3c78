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
  total: z.int().meta({ description: "Objects that there were when they were last counted." }),
  left: z.int().meta({ description: "Of them, those without a run that started since." }),
});

/** The state of the roll-out of the Pod template. */
const rollout = z.object({
  revision: z.int().meta({ description: "Grows with every change; a key never goes back to an older one." }),
  template: z.string().meta({
    description:
      "Fingerprint of what Pods of this revision are made after; empty when it has no container any more.",
  }),
  complete: z.int().optional().meta({
    description: "The last revision that has taken over: a Pod of it was Ready, and no older Pod is left.",
  }),
  tried: z.string().optional().meta({
    description: "Fingerprint of the last container of which a Pod was Ready.",
  }),
});

const scaled = z.object({
  wanted: z.int().meta({ description: "Pods that there should be." }),
  by: z.literal("KEDA").optional(),
  fewerSince: z.string().optional().meta({ description: "Since when fewer would be enough." }),
  fewer: z.int().optional().meta({ description: "The most that were wanted since then." }),
});

/** The status of a ReconcileFunction: the bridge writes the first three fields, the deployer the others. */
export const functionStatus = z.object({
  problem: z.string().optional().meta({ description: "Why it is not in use." }),
  follows: z.record(z.string(), streamState).optional().meta({
    description: "How each kind is followed, by plural.group.",
  }),
  campaign: campaignProgress.optional().meta({ description: "How far the last campaign has come." }),
  delivered: z.enum(["pull", "webhook"]).optional().meta({
    description: "The way in which keys come to it, as it was last settled.",
  }),
  rollout: rollout.optional(),
  scaling: scaled.optional(),
  replicas: z.int().optional().meta({ description: "Pods that there are." }),
  selector: z.string().optional().meta({ description: "Of its Pods, for autoscalers." }),
  readyReplicas: z.int().optional().meta({ description: "Of them, those of this revision that are Ready." }),
  due: z.int().optional().meta({ description: "Keys that should run now, and are not paused." }),
  oldestDueSeconds: z.int().optional().meta({ description: "How long the first of them has waited." }),
  running: z.int().optional().meta({ description: "Keys that run." }),
  parked: z.int().optional().meta({ description: "Keys given up on until their objects change." }),
  failing: z.int().optional().meta({ description: "Keys whose last run failed." }),
  pausedKeys: z.int().optional().meta({ description: "Keys that would be due, but are paused on purpose." }),
  paused: z.boolean().optional().meta({ description: "No run starts, because the spec says so." }),
});
