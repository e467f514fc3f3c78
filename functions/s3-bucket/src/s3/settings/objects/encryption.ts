import {
  DeleteBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  PutBucketEncryptionCommand,
} from "@aws-sdk/client-s3";
import { z } from "zod";
import type { BucketCall } from "../../bucket-call.ts";
import { toApi } from "../api-shape.ts";
import { valueSetting } from "../bucket-setting.ts";

export const encryptionSpec = z
  .object({
    rules: z
      .array(
        z.object({
          applyServerSideEncryptionByDefault: z
            .object({
              sseAlgorithm: z.enum(["AES256", "aws:kms", "aws:kms:dsse"]),
              kmsMasterKeyId: z
                .string()
                .min(1)
                .max(2048)
                .optional()
                .describe("With aws:kms, the key's id or ARN. Default: the account's key aws/s3."),
            })
            .optional(),
          bucketKeyEnabled: z
            .boolean()
            .optional()
            .describe("With aws:kms, use a key of the bucket, which makes fewer requests to KMS."),
          blockedEncryptionTypes: z
            .object({
              encryptionType: z
                .array(z.enum(["NONE", "SSE-C"]))
                .min(1)
                .max(2),
            })
            .optional()
            .describe("Encryption that uploads to the bucket may not use."),
        }),
      )
      .length(1),
  })
  .describe("How new objects are encrypted. Left out: the server's default stays.");

export const encryption = (call: BucketCall, wanted: z.output<typeof encryptionSpec> | undefined) =>
  valueSetting(call, {
    name: "encryption",
    wanted,
    read: async ({ client, bucket, http }) =>
      (await client.send(new GetBucketEncryptionCommand(bucket), http)).ServerSideEncryptionConfiguration,
    absent: "ServerSideEncryptionConfigurationNotFoundError",
    write: ({ client, bucket, http }, value) =>
      client.send(
        new PutBucketEncryptionCommand({ ...bucket, ServerSideEncryptionConfiguration: toApi(value) }),
        http,
      ),
    remove: ({ client, bucket, http }) => client.send(new DeleteBucketEncryptionCommand(bucket), http),
    // On AWS a bucket always has encryption.
    removedAs: { rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }] },
  });
