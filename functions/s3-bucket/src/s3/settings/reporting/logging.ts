import {
  type BucketLoggingStatus,
  GetBucketLoggingCommand,
  type LoggingEnabled,
  PutBucketLoggingCommand,
} from "@aws-sdk/client-s3";
import { isList, type Resolved, type SettingValue } from "@drover/external";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";
import { bucketRef, oneBucket, oneBucketRule } from "../bucket-or-ref.ts";
import { fieldsOf, sorted } from "../canonical.ts";

// Left out: `emailAddress`, which AWS refuses since October 2025, and `displayName`, which S3 ignores.
const grantee = z.object({
  type: z.enum(["CanonicalUser", "Group"]),
  id: z.string().min(1).max(256).optional().describe("With CanonicalUser, its canonical id."),
  uri: z.string().min(1).max(1024).optional().describe("With Group, the URI of the group."),
});

export const loggingSpec = z
  .object({
    loggingEnabled: z
      .object({
        targetBucket: z
          .string()
          .min(1)
          .max(255)
          .optional()
          .describe("The bucket for the logs. It must allow logging.s3.amazonaws.com to write to it."),
        targetBucketRef: bucketRef,
        targetPrefix: z.string().max(1024).default("").describe("The beginning of the keys of the logs."),
        targetGrants: z
          .array(z.object({ grantee, permission: z.enum(["FULL_CONTROL", "READ", "WRITE"]) }))
          .max(100)
          .optional()
          .describe("Access to the logs, if the target bucket has ACLs."),
        targetObjectKeyFormat: z
          .object({
            simplePrefix: z.object({}).optional().describe("{}: the time and a random text. The default."),
            partitionedPrefix: z
              .object({ partitionDateSource: z.enum(["EventTime", "DeliveryTime"]).optional() })
              .optional()
              .describe("The account, the region, the bucket and the day, and then as with simplePrefix."),
          })
          .optional()
          .describe("What follows the prefix in the keys of the logs: one of the two."),
      })
      .refine(...oneBucket("targetBucket"))
      .meta(oneBucketRule("targetBucket")),
  })
  .describe("The log of the requests to the bucket, which S3 writes to another one.");

export const logging = (call: BucketCall, wanted: Resolved<z.output<typeof loggingSpec>> | undefined) =>
  valueSetting(call, {
    name: "logging",
    wanted,
    async read({ client, bucket, http }) {
      const { LoggingEnabled } = await client.send(new GetBucketLoggingCommand(bucket), http);
      return LoggingEnabled && { LoggingEnabled: withDefaults(LoggingEnabled) };
    },
    write: (to, value) => put(to, toApi(value)),
    // S3 has no request that deletes it.
    remove: (to) => put(to, {}),
    canonical,
  });

const put = ({ client, bucket, http }: BucketCall, BucketLoggingStatus: BucketLoggingStatus) =>
  client.send(new PutBucketLoggingCommand({ ...bucket, BucketLoggingStatus }), http);

/** The defaults of fields that S3 does not return unless they were set. */
const withDefaults = (enabled: LoggingEnabled): LoggingEnabled => ({
  ...enabled,
  TargetPrefix: enabled.TargetPrefix ?? "",
  TargetGrants: enabled.TargetGrants ?? [],
  TargetObjectKeyFormat: enabled.TargetObjectKeyFormat ?? { SimplePrefix: {} },
});

/** The order of grants does not matter. */
function canonical(value: SettingValue): SettingValue {
  const { targetGrants, ...rest } = fieldsOf(fieldsOf(value)["loggingEnabled"]);
  return {
    loggingEnabled: {
      ...rest,
      targetGrants: isList(targetGrants) ? sorted(targetGrants.map(canonicalGrant)) : undefined,
    },
  };
}

/** A grant without what servers add to it: a display name, or empty fields. */
function canonicalGrant(grant: SettingValue): SettingValue {
  const { grantee, permission } = fieldsOf(grant);
  const { id, uri } = fieldsOf(grantee);
  return { grantee: { id: id === "" ? undefined : id, uri: uri === "" ? undefined : uri }, permission };
}
