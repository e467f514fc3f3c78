import type { ObjectKey } from "@drover/controller";
import { isApiError, type KubeClient, keyOf, type NewObject, type ResourceRef } from "@drover/kube";
import { Bucket } from "@drover/s3-bucket";
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";

const manifestSchema = z.object({
  apiVersion: z.literal(Bucket.apiVersion),
  kind: z.literal(Bucket.kind),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.looseObject({}),
});

export interface BucketExample {
  readonly key: ObjectKey;
  readonly manifest: z.output<typeof manifestSchema>;
}

/** Reads a Bucket from a YAML file. */
export async function readBucket(file: string): Promise<BucketExample> {
  const manifest = manifestSchema.parse(parse(await readFile(file, "utf8")));
  return { key: keyOf(manifest), manifest };
}

/** Creates the object. If it exists, sets the manifest's spec fields and leaves the rest as it is. */
export async function applyBucket(
  client: KubeClient,
  ref: ResourceRef,
  { key, manifest: { metadata, spec } }: BucketExample,
  signal: AbortSignal,
): Promise<"created" | "applied"> {
  const object: NewObject = { metadata, spec };
  try {
    await client.create(ref, object, { signal });
    return "created";
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
    await client.patch(ref, key, { type: "merge", body: { spec } }, { signal });
    return "applied";
  }
}
