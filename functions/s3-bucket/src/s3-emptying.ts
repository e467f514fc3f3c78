import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type _Error as ObjectError,
} from "@aws-sdk/client-s3";
import { RetryAfterError } from "@drover/controller";
import type { BucketCall } from "./s3-call.ts";
import { answerOf, nextAfter, S3Refusal } from "./s3-errors.ts";

/** Pages in one go: some seconds. A bucket of any size is emptied in many runs, none of them long. */
const mostPages = 10;
/** Uploads are aborted one by one. */
const uploadsInPage = 100;

/**
 * Deletes some of what is in a bucket: up to ten thousand objects, versions and delete markers, then up to a thousand
 * unfinished uploads. Each page is read from the beginning, so that what is deleted never shifts what is listed.
 * Retention is respected: nothing is bypassed.
 */
export async function emptyBucket(call: BucketCall): Promise<{ deleted: number; done: boolean }> {
  const versions = await inPages(() => deletePage(call));
  const uploads = versions.done ? await inPages(() => abortPage(call)) : { deleted: 0, done: false };
  return { deleted: versions.deleted + uploads.deleted, done: uploads.done };
}

/** Takes pages until one is empty, or there have been enough. */
async function inPages(page: () => Promise<number>): Promise<{ deleted: number; done: boolean }> {
  let deleted = 0;
  for (let pages = 0; pages < mostPages; pages++) {
    const count = await page();
    if (count === 0) return { deleted, done: true };
    deleted += count;
  }
  return { deleted, done: false };
}

async function deletePage({ client, bucket, http }: BucketCall): Promise<number> {
  const page = await answerOf(client.send(new ListObjectVersionsCommand(bucket), http));
  if (page instanceof S3Refusal) throw nextAfter(page, `list what is in bucket ${bucket.Bucket}`);
  const Objects = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({
    Key,
    VersionId,
  }));
  if (Objects.length === 0) return 0;
  const answer = await answerOf(
    client.send(new DeleteObjectsCommand({ ...bucket, Delete: { Objects, Quiet: true } }), http),
  );
  if (answer instanceof S3Refusal) throw nextAfter(answer, `delete what is in bucket ${bucket.Bucket}`);
  const [kept] = answer.Errors ?? [];
  if (kept !== undefined) throw keptBack(bucket.Bucket, kept);
  return Objects.length;
}

const keptBack = (bucket: string, { Key, Code, Message }: ObjectError): Error =>
  new RetryAfterError(
    `S3 keeps object ${JSON.stringify(Key)} of bucket ${bucket} (${Code ?? "no code"}: ${Message ?? "no reason given"}). ` +
      "If it is under retention or a legal hold, wait for its end or lift it; else set spec.onDelete to Retain.",
    { after: "1m", reason: "ObjectsKept" },
  );

async function abortPage({ client, bucket, http }: BucketCall): Promise<number> {
  const page = await answerOf(
    client.send(new ListMultipartUploadsCommand({ ...bucket, MaxUploads: uploadsInPage }), http),
  );
  if (page instanceof S3Refusal) {
    if (page.notSupported) return 0;
    throw nextAfter(page, `list the unfinished uploads to bucket ${bucket.Bucket}`);
  }
  const uploads = page.Uploads ?? [];
  for (const { Key, UploadId } of uploads) {
    const answer = await answerOf(
      client.send(new AbortMultipartUploadCommand({ ...bucket, Key, UploadId }), http),
    );
    if (answer instanceof S3Refusal && answer.code !== "NoSuchUpload") {
      throw nextAfter(answer, `abort an upload to bucket ${bucket.Bucket}`);
    }
  }
  return uploads.length;
}
