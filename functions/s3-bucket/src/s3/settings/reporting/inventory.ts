import {
  DeleteBucketInventoryConfigurationCommand,
  type InventoryConfiguration,
  ListBucketInventoryConfigurationsCommand,
  PutBucketInventoryConfigurationCommand,
} from "@aws-sdk/client-s3";
import { isList, type Resolved, type SettingValue } from "@drover/external";
import { z } from "zod";
import { bucketRef, oneBucket, oneBucketRule } from "../bucket-or-ref.ts";
import type { BucketCall } from "../../bucket-call.ts";
import { listById } from "../list-by-id.ts";
import { toApi } from "../api-shape.ts";
import { sorted } from "../canonical.ts";
import {
  configurationId,
  configurationsSetting,
  maxConfigurations,
  reportsBucket,
  reportsOwner,
  reportsPrefix,
} from "./configurations-setting.ts";
import { withCanonicalFilter } from "./configuration-filter.ts";

const optionalField = z.enum([
  "BucketKeyStatus",
  "ChecksumAlgorithm",
  "ETag",
  "EncryptionStatus",
  "IntelligentTieringAccessTier",
  "IntelligentTieringReferenceDate",
  "IsMultipartUploaded",
  "LastModifiedDate",
  "LifecycleExpirationDate",
  "ObjectAccessControlList",
  "ObjectLockEventHoldDuration",
  "ObjectLockEventHoldStatus",
  "ObjectLockLegalHoldStatus",
  "ObjectLockMode",
  "ObjectLockRetainUntilDate",
  "ObjectOwner",
  "ReplicationStatus",
  "Size",
  "StorageClass",
]);

const destination = z.object({
  s3BucketDestination: z
    .object({
      accountId: reportsOwner,
      bucket: reportsBucket.optional(),
      bucketRef,
      format: z.enum(["CSV", "ORC", "Parquet"]),
      prefix: reportsPrefix,
      encryption: z
        .object({
          sseS3: z.object({}).optional().describe("With keys of S3: an empty object."),
          sseKms: z.object({ keyId: z.string().min(1).max(2048).describe("The key's ARN.") }).optional(),
        })
        .optional()
        .describe("How the reports are encrypted: one of the two."),
    })
    .refine(...oneBucket("bucket"))
    .meta(oneBucketRule("bucket")),
});

const configuration = z.object({
  id: configurationId,
  isEnabled: z.boolean().default(true),
  filter: z
    .object({ prefix: z.string().max(1024) })
    .optional()
    .describe("The objects that it is for. Left out: all."),
  destination,
  schedule: z.object({ frequency: z.enum(["Daily", "Weekly"]) }),
  includedObjectVersions: z.enum(["All", "Current"]),
  optionalFields: z
    .array(optionalField)
    .min(1)
    .max(optionalField.options.length)
    .optional()
    .describe("The columns beside the bucket and the key."),
});
type Configuration = Resolved<z.output<typeof configuration>>;

export const inventorySpec = listById(configuration)
  .max(maxConfigurations)
  .describe("Reports that list the objects of the bucket.");

export const inventory = (call: BucketCall, wanted: readonly Configuration[] | undefined) =>
  configurationsSetting(call, {
    name: "inventory",
    wanted,
    async page({ client, bucket, http }, token) {
      const command = new ListBucketInventoryConfigurationsCommand({ ...bucket, ...token });
      const answer = await client.send(command, http);
      return { ...answer, items: answer.InventoryConfigurationList };
    },
    toApi: ({ id, filter, ...rest }: Configuration): InventoryConfiguration => ({
      ...toApi(rest),
      Id: id,
      Filter: filter?.prefix ? { Prefix: filter.prefix } : undefined,
    }),
    put: ({ client, bucket, http }, Id, InventoryConfiguration) =>
      client.send(
        new PutBucketInventoryConfigurationCommand({ ...bucket, Id, InventoryConfiguration }),
        http,
      ),
    remove: ({ client, bucket, http }, Id) =>
      client.send(new DeleteBucketInventoryConfigurationCommand({ ...bucket, Id }), http),
    canonical,
  });

function canonical(item: SettingValue): SettingValue {
  const { optionalFields, ...rest } = withCanonicalFilter(item);
  return { ...rest, optionalFields: isList(optionalFields) ? sorted(optionalFields) : undefined };
}
