import { defineFunction } from "@drover/controller";
import { bucketController } from "./bucket-controller.ts";
import { s3ConfigSchema } from "./config.ts";
import { s3BucketPorts } from "./s3/s3-bucket-port.ts";

/**
 * The deployment in `deploy/function.yaml`. Add the S3 server and its credentials yourself: `DROVER_S3_ENDPOINT` and
 * the SDK's own variables in `container.env`. On AWS neither is needed, with EKS Pod Identity or a role for its
 * ServiceAccount. Functions cannot reach the credentials of the node: docs/network.md.
 *
 * The hook for events of CloudTrail is a patch, `deploy/drift-at-once/hook.yaml`, and not declared here: it needs a Secret
 * and a public address, and a bridge that reads registrations from files does not start without the Secret's file.
 */
export default defineFunction({
  controller: bucketController(s3BucketPorts(s3ConfigSchema.parse({}))),
  // Buckets in any namespace may name a Secret with their keys. So an attacker that takes over a Pod can read every
  // Secret of which it knows the name. `deploy/namespaced/function.yaml` is for one namespace, and reads Secrets of no
  // other.
  readsSecrets: true,
  deployment: {
    container: { image: "drover/s3-bucket:0.1.0" },
    scaling: { max: 3 },
  },
});
