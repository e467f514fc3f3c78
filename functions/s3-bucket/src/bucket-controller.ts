import { defineController } from "@drover/controller";
import { finalizeExternal, reconcileExternal } from "@drover/external";
import { Bucket } from "./bucket.ts";
import type { BucketPorts } from "./s3/s3-bucket-port.ts";

/** The fields that refer to other Bucket objects. */
const references = [
  "logging.loggingEnabled.targetBucketRef",
  "replication.rules[].destination.bucketRef",
  "inventory[].destination.s3BucketDestination.bucketRef",
  "analytics[].storageClassAnalysis.dataExport.destination.s3BucketDestination.bucketRef",
];

/** The controller of Bucket objects. Each object's own `pollInterval` finds drift of its bucket. */
export const bucketController = (buckets: BucketPorts) =>
  defineController({
    for: Bucket,
    watches: references.map((path) => ({
      kind: Bucket,
      names: { referencedBy: `spec.${path}.name` },
      changed: ["status.bucketName", "status.arn"],
    })),
    resyncEvery: "1h",
    concurrency: 8,
    timeout: "60s",
    reconcile: async (context) => reconcileExternal(context, await buckets.open(context)),
    finalize: (context) => finalizeExternal(context, () => buckets.open(context)),
  });
