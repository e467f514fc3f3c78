/**
 * # @drover/s3-bucket
 *
 * The controller of `Bucket` objects, for buckets on an S3 server. A model for functions that manage things outside the
 * cluster. Read it in this order:
 *
 * - `bucket.ts`: the resource. Its schemas are the CRD and the types.
 * - `reconcile-bucket.ts`, `finalize-bucket.ts`: the steps of a run. Observe, then create, update or delete.
 * - `ownership.ts`: how a run recognizes its own bucket, whatever crashed when. Nothing is changed before that.
 * - `bucket-store.ts`: the port. `s3-bucket-store.ts` and its neighbours `s3-*.ts` are the only files that use the SDK.
 *
 * Guarantees:
 *
 * - A bucket of another owner is never changed or deleted: a run changes a bucket only after it has itself seen the
 *   owner's uid on it, and checks it again before it deletes.
 * - No bucket is lost: a run may end at any point, and the next one continues from the state on the S3 server.
 * - If everything is as the spec asks, a run only reads.
 * - A bucket that is not empty is never emptied unless the spec allows it.
 * - Settings that the spec leaves out, and tags of others, stay as they are.
 */
export { Bucket } from "./bucket.ts";
export { bucketController } from "./bucket-controller.ts";
export type * from "./bucket-store.ts";
export { type S3Config, s3ConfigSchema } from "./config.ts";
export { s3BucketStores } from "./s3/s3-bucket-store.ts";
