import { defineFunction } from "@drover/controller";
import { bucketController } from "./bucket-controller.ts";
import { s3ConfigSchema } from "./config.ts";
import { s3BucketStores } from "./s3-bucket-store.ts";

/**
 * How it is deployed: `deploy/function.yaml`. Which S3 server, and as whom, is yours to add: `DROVER_S3_ENDPOINT` and the
 * SDK's own variables in `container.env`; on AWS neither, for a node has both.
 */
export default defineFunction({
  controller: bucketController(s3BucketStores(s3ConfigSchema.parse({}))),
  // Buckets may name the Secret with which theirs is reached.
  readsSecrets: true,
  deployment: {
    container: { image: "drover/s3-bucket:0.1.0" },
    scaling: { max: 3 },
  },
});
