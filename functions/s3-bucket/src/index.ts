/**
 * # @drover/s3-bucket
 *
 * Keeps buckets on an S3 server as `Bucket` objects say. A model for functions that look after things outside the
 * cluster; read it in this order:
 *
 * - `bucket.ts`: the resource. Its schemas are the CRD and the types.
 * - `reconcile-bucket.ts`, `finalize-bucket.ts`: what a run does. Observe, then create, update or delete.
 * - `ownership.ts`: how a bucket is known to be ours, whatever crashed when. Nothing is touched before that.
 * - `bucket-store.ts`: the port. `s3-bucket-store.ts` and its neighbours `s3-*.ts` are the only files that know the SDK.
 *
 * What it holds to:
 *
 * - Nobody else's bucket is changed or deleted: a run changes a bucket only after it has itself seen the owner's uid on
 *   it, and looks again before it deletes.
 * - No bucket is lost: a run may end at any point, and the next one carries on from what S3 says.
 * - When everything is as asked for, a run only reads.
 * - A bucket that is not empty is never emptied unless the spec says so.
 * - What the spec leaves out is left as it is: settings, and the tags of others.
 */
export { Bucket } from "./bucket.ts";
export { bucketController } from "./bucket-controller.ts";
export type * from "./bucket-store.ts";
export { type S3Config, s3ConfigSchema } from "./config.ts";
export { s3BucketStores } from "./s3-bucket-store.ts";
