import type { KubeObject } from "@drover/kube";
import { z } from "zod";

const readySchema = z.object({ status: z.string(), reason: z.string(), message: z.string() });
type ReadyCondition = z.output<typeof readySchema>;
const schema = z.object({
  spec: z.object({ onDelete: z.string().optional() }).catch({}),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      bucketName: z.string().optional(),
      creating: z.object({ bucketName: z.string() }).optional(),
      conditions: z.array(readySchema.extend({ type: z.string() })).default([]),
    })
    .catch({ conditions: [] }),
});

/** The fields of a Bucket that the demo reports. An invalid field counts as absent. */
export type BucketView = Readonly<ReturnType<typeof viewOf>>;

export function viewOf(object: KubeObject) {
  const { uid, generation = 0, deletionTimestamp, finalizers = [] } = object.metadata;
  const { spec, status } = schema.parse(object);
  const ready: ReadyCondition | undefined = status.conditions.find(({ type }) => type === "Ready");
  return {
    uid,
    generation,
    deleting: deletionTimestamp !== undefined,
    finalizers,
    onDelete: spec.onDelete,
    observedGeneration: status.observedGeneration,
    ready,
    /** The bucket that it has, or that is about to be created. */
    bucket: status.bucketName ?? status.creating?.bucketName,
    /** True if the status records that a bucket is about to be created. */
    announced: status.creating !== undefined,
  };
}

/** True if it is Ready for its current spec. */
export const isReadyNow = ({ ready, generation, observedGeneration }: BucketView): boolean =>
  ready?.status === "True" && observedGeneration === generation;
