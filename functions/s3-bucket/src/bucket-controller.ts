import { defineController } from "@drover/controller";
import { Bucket } from "./bucket.ts";
import type { BucketStores } from "./bucket-store.ts";
import { finalizeBucket } from "./finalize-bucket.ts";
import { reconcileBucket } from "./reconcile-bucket.ts";

/** The controller of Bucket objects. Each object's own `pollInterval` finds drift of its bucket. */
export const bucketController = (buckets: BucketStores) =>
  defineController({
    for: Bucket,
    resyncEvery: "1h",
    concurrency: 8,
    timeout: "60s",
    reconcile: (context) => reconcileBucket(context, buckets),
    finalize: (context) => finalizeBucket(context, buckets),
  });
