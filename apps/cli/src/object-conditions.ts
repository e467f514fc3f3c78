import { readyCondition } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { z } from "zod";

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(""),
  message: z.string().default(""),
});
export type ObjectCondition = z.output<typeof conditionSchema>;

const statusSchema = z.looseObject({
  observedGeneration: z.number().nullish(),
  conditions: z.array(conditionSchema).nullish(),
});

/** The current condition of an object of any kind, by type. */
export function conditionOf(object: KubeObject, type: string = readyCondition): ObjectCondition | undefined {
  const status = statusSchema.safeParse(object["status"]).data;
  return status?.conditions?.find((condition) => condition.type === type);
}

/** True if an object's status was written for its current spec. */
export const isStatusCurrent = (object: KubeObject): boolean =>
  statusSchema.safeParse(object["status"]).data?.observedGeneration === object.metadata.generation;
