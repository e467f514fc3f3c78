import { kubeObjectSchema } from "@drover/kube";
import { optional } from "@drover/workloads";
import { z } from "zod";
import { taintSchema } from "./tolerations.ts";

/** The fields of a node that are read. */
export const nodeSchema = z.looseObject({
  ...kubeObjectSchema.shape,
  spec: z.looseObject({ taints: optional(z.array(taintSchema)) }).prefault({}),
});
export type Node = z.output<typeof nodeSchema>;
