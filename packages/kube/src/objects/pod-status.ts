import { z } from "zod";
import type { KubeObject } from "./kube-object.ts";

const reasonSchema = z.looseObject({ reason: z.string().optional(), message: z.string().optional() });
const stateSchema = z.looseObject({
  waiting: reasonSchema.optional(),
  terminated: reasonSchema.extend({ exitCode: z.number() }).optional(),
});
const statusSchema = reasonSchema.extend({
  phase: z.string().optional(),
  conditions: z.array(reasonSchema.extend({ type: z.string(), status: z.string() })).default([]),
  containerStatuses: z
    .array(z.looseObject({ state: stateSchema.default({}), lastState: stateSchema.default({}) }))
    .default([]),
});

/** The status of a Pod, as far as it shows whether its containers run, with the reasons of scheduler and kubelet. */
export type PodStatus = z.output<typeof statusSchema>;

/** The status of a Pod; an empty one if it has none that can be read. */
export const podStatusOf = (pod: KubeObject): PodStatus =>
  statusSchema.safeParse(pod["status"]).data ?? { conditions: [], containerStatuses: [] };

/** True if the Pod has a condition of this type that is True. */
export const isTrueIn = ({ conditions }: Pick<PodStatus, "conditions">, type: string): boolean =>
  conditions.some((one) => one.type === type && one.status === "True");

/** The scheduler's reason for a Pod that is on no node, if there is one. */
export const unscheduledReason = ({ conditions }: Pick<PodStatus, "conditions">) =>
  conditions.find((one) => one.type === "PodScheduled" && one.status === "False");
