import { type Log, RetryAfterError, RetryError } from "@drover/controller";
import type { BucketContext } from "../bucket.ts";
import type { BucketCall } from "./bucket-call.ts";
import { emptyBucket } from "./empty-bucket.ts";

/**
 * Deletes a part of what is in a bucket.
 *
 * @throws RetryAfterError `Emptying` if more is left.
 * @throws RetryError if something cannot be deleted, or the bucket is filled again.
 */
export async function clearBucket(call: BucketCall, log: Log): Promise<void> {
  const name = call.bucket.Bucket;
  const { deleted, kept, next } = await emptyBucket(call);
  if (deleted > 0) log.info({ bucket: name, deleted }, "Deleted contents of the bucket.");
  if (next !== undefined && deleted > 0) {
    // The key makes each run's message different, which shows the runtime that there is progress.
    throw new RetryAfterError(
      `Bucket ${name} is being emptied: ${deleted} items in this run, and it goes on at ${short(next)}.`,
      { after: "1ms", reason: "Emptying" },
    );
  }
  const [first] = kept;
  if (first !== undefined) {
    const others = kept.length > 1 ? `, and ${kept.length - 1} more` : "";
    throw new RetryError(
      `S3 keeps object ${short(first.key)} of bucket ${name} (${first.why})${others}. If it is under retention or a ` +
        "legal hold, wait for its end or lift it. Else delete it by hand, or by a lifecycle rule; or set spec.onDelete to Retain.",
      { reason: "ObjectsKept" },
    );
  }
  if (next !== undefined) throw filled(name);
}

const longestKey = 200;
const short = (key: string): string =>
  key.length > longestKey ? `${key.slice(0, longestKey).toWellFormed()}…` : key;

/** The error for a bucket that cannot be deleted because something is in it. */
export const contentsError = (name: string, { emptyOnDelete }: BucketContext["spec"]): Error =>
  emptyOnDelete ? filled(name) : notEmpty(name);

/** This error is retried with backoff. */
const filled = (name: string): Error =>
  new RetryError(
    `Bucket ${name} has been emptied, and there are objects in it again. Stop what writes to it.`,
    { reason: "BucketNotEmpty" },
  );

const notEmpty = (name: string): Error =>
  new RetryAfterError(
    `Bucket ${name} is not empty, and spec.emptyOnDelete is false. Empty the bucket, ` +
      "or set spec.emptyOnDelete to true to delete everything in it, or spec.onDelete to Retain to keep it.",
    { after: "30s", reason: "BucketNotEmpty" },
  );
