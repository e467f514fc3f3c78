/**
 * # @drover/s3-bucket
 *
 * The controller of `Bucket` objects, for buckets on an S3 server. A model for functions that manage things outside the
 * cluster. Read it in this order:
 *
 * - `bucket.ts`: the resource. Its schemas are the CRD and the types.
 * - `s3/s3-bucket-port.ts`: the port: observe, create, update, delete. Only the files in `s3/` use the SDK.
 * - `s3/bucket-settings.ts`: how each setting is read and written.
 * - `@drover/external`: everything around the port: ownership, creation, adoption, drift, deletion.
 *
 * Guarantees, in addition to those of `@drover/external`: a bucket that is not empty is never emptied unless the spec
 * allows it.
 */
export { Bucket } from "./bucket.ts";
export { bucketController } from "./bucket-controller.ts";
export { type S3Config, s3ConfigSchema } from "./config.ts";
export { type BucketPorts, s3BucketPorts } from "./s3/s3-bucket-port.ts";
