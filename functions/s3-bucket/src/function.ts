import { defineFunction } from "@drover/controller";
import { bucketController } from "./bucket-controller.ts";
import { s3ConfigSchema } from "./config.ts";
import { s3BucketStores } from "./s3-bucket-store.ts";

/**
 * How it is deployed: `deploy/function.yaml`. Which S3 server, and as whom, is yours to add: `DROVER_S3_ENDPOINT` and the
 * SDK's own variables in `container.env`; on AWS neither, with EKS Pod Identity or a role for its ServiceAccount. The
 * credentials of the node are closed to functions: docs/network.md.
 */
export default defineFunction({
  controller: bucketController(s3BucketStores(s3ConfigSchema.parse({}))),
  // Buckets may name the Secret with which theirs is reached: in any namespace, so that whoever takes over a Pod reads every
  // Secret whose name is known. `deploy/namespaced/function.yaml` is for one namespace, and reads no others.
  readsSecrets: true,
  deployment: {
    container: { image: "drover/s3-bucket:0.1.0" },
    scaling: { max: 3 },
  },
});
