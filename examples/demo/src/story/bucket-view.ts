import type { KubeObject } from "@drover/kube";
import { z } from "zod";

/** The fields of a Bucket that the demo reports. An invalid field counts as absent. */
export interface BucketView {
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly onDelete: string | undefined;
  readonly observedGeneration: number | undefined;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  /** The bucket that it has, or that is about to be created. */
  readonly bucket: string | undefined;
  /** True if the status records that a bucket is about to be created. */
  readonly announced: boolean;
}

const schema = z.object({
  spec: z.object({ onDelete: z.string().optional() }).catch({}),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      bucketName: z.string().optional(),
      creating: z.object({ bucketName: z.string() }).optional(),
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
        .default([]),
    })
    .catch({ conditions: [] }),
});

export function viewOf(object: KubeObject): BucketView {
  const { uid, generation = 0, deletionTimestamp, finalizers = [] } = object.metadata;
  const { spec, status } = schema.parse(object);
  return {
    uid,
    generation,
    deleting: deletionTimestamp !== undefined,
    finalizers,
    onDelete: spec.onDelete,
    observedGeneration: status.observedGeneration,
    ready: status.conditions.find(({ type }) => type === "Ready"),
    bucket: status.bucketName ?? status.creating?.bucketName,
    announced: status.creating !== undefined,
  };
}

/** True if it is Ready for its current spec. */
export const isReadyNow = ({ ready, generation, observedGeneration }: BucketView): boolean =>
  ready?.status === "True" && observedGeneration === generation;
