import { AwsRefusal } from "@drover/aws";
import {
  GetObjectLockConfigurationCommand,
  type ObjectLockRule,
  PutObjectLockConfigurationCommand,
} from "@aws-sdk/client-s3";
import { TerminalError } from "@drover/controller";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { errorAfter, responseOrRefusal } from "../../s3-errors.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";

export const objectLockEnabledForBucketSpec = z
  .boolean()
  .describe(
    "Create the bucket with object lock, which also enables versioning. It cannot be changed once the bucket exists.",
  );

// The limits of S3: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html
const days = z.int().min(1).max(36_500).optional();
const years = z.int().min(1).max(100).optional();
const defaultRetention = z
  .object({
    mode: z.enum(["GOVERNANCE", "COMPLIANCE"]).optional(),
    days,
    years,
    defaultEventHold: z
      .object({ days, years })
      .optional()
      .describe("Also begin an event hold of this length."),
  })
  .describe("The lock of new objects: a mode, and days or years.");

// `objectLockEnabled` is left out: its only value is Enabled, which is always sent.
export const objectLockConfigurationSpec = z
  .object({ rule: z.object({ defaultRetention }) })
  .describe(
    "Locks new objects. Needs versioning. It enables object lock on a bucket without it, which cannot be undone.",
  );

export const objectLockConfiguration = (
  call: BucketCall,
  wanted: z.output<typeof objectLockConfigurationSpec> | undefined,
) =>
  valueSetting(call, {
    name: "objectLockConfiguration",
    wanted,
    async read({ client, bucket, http }) {
      const answer = await client.send(new GetObjectLockConfigurationCommand(bucket), http);
      const Rule = answer.ObjectLockConfiguration?.Rule;
      return Rule && { Rule };
    },
    absent: noObjectLock,
    write: (to, { rule }) => put(to, toApi(rule)),
    // Object lock itself stays: S3 cannot disable it.
    remove: (to) => put(to, undefined),
  });

const put = ({ client, bucket, http }: BucketCall, Rule: ObjectLockRule | undefined) =>
  client.send(
    new PutObjectLockConfigurationCommand({
      ...bucket,
      ObjectLockConfiguration: { ObjectLockEnabled: "Enabled", Rule },
    }),
    http,
  );

const noObjectLock = "ObjectLockConfigurationNotFoundError";

/**
 * Compares the object lock of an existing bucket with `spec.objectLockEnabledForBucket`. Reads nothing if the spec does
 * not name it.
 *
 * @throws TerminalError `ObjectLockImmutable` if they differ.
 */
export async function rejectObjectLock(call: BucketCall, wanted: boolean | undefined): Promise<void> {
  if (wanted === undefined || wanted === (await hasObjectLock(call, wanted))) return;
  const name = call.bucket.Bucket;
  throw new TerminalError(
    wanted
      ? `Bucket ${name} was created without object lock, and spec.objectLockEnabledForBucket is for new buckets. ` +
          "Remove it from the spec, or make another Bucket object. spec.objectLockConfiguration enables object lock on an existing bucket."
      : `Bucket ${name} has object lock, which cannot be disabled. ` +
          "Remove spec.objectLockEnabledForBucket, or make another Bucket object.",
    { reason: "ObjectLockImmutable" },
  );
}

/** A server that does not support object lock has no bucket with it. */
async function hasObjectLock({ client, bucket, http }: BucketCall, wanted: boolean): Promise<boolean> {
  const answer = await responseOrRefusal(client.send(new GetObjectLockConfigurationCommand(bucket), http));
  if (!(answer instanceof AwsRefusal)) return answer.ObjectLockConfiguration?.ObjectLockEnabled === "Enabled";
  if (answer.code === noObjectLock || (answer.notSupported && !wanted)) return false;
  throw errorAfter(answer, `read the object lock of bucket ${bucket.Bucket}`);
}
