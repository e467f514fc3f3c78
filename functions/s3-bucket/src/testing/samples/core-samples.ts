import {
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  type LifecycleRule,
  PutBucketEncryptionCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { orUndefined, type SettingSample } from "./setting-sample.ts";

const rules = (s3: S3Client, Bucket: string, Rules: LifecycleRule[]) =>
  s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
const byKms = (KMSMasterKeyID: string) => ({
  Rules: [
    {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms" as const, KMSMasterKeyID },
      BucketKeyEnabled: true,
    },
  ],
});
const key = "arn:aws:kms:us-east-1:123456789012:key/0d1e2f30-1111-4444-8888-aaaabbbbcccc";

export const coreSamples: readonly SettingSample[] = [
  {
    name: "versioning",
    specs: [{ versioning: "Enabled" }, { versioning: "Suspended" }],
    states: ["Enabled", "Suspended"],
    without: "Suspended",
    read: async (s3, Bucket) => (await s3.send(new GetBucketVersioningCommand({ Bucket }))).Status,
    write: (s3, Bucket) =>
      s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } })),
    drift: (s3, Bucket) =>
      s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Suspended" } })),
  },
  {
    name: "encryption",
    specs: [
      {
        encryption: {
          rules: [
            {
              applyServerSideEncryptionByDefault: { sseAlgorithm: "aws:kms", kmsMasterKeyId: key },
              bucketKeyEnabled: true,
            },
          ],
        },
      },
      { encryption: { rules: [{ applyServerSideEncryptionByDefault: { sseAlgorithm: "AES256" } }] } },
    ],
    states: [byKms(key), { Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }] }],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetBucketEncryptionCommand({ Bucket }))
          .then((answer) => answer.ServerSideEncryptionConfiguration),
      ),
    write: (s3, Bucket) =>
      s3.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: byKms(key) })),
    drift: (s3, Bucket) =>
      s3.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration: byKms("other") })),
  },
  {
    name: "publicAccessBlock",
    specs: [
      { publicAccessBlock: { blockPublicAcls: true, blockPublicPolicy: true } },
      { publicAccessBlock: { blockPublicAcls: false, restrictPublicBuckets: true } },
    ],
    states: [
      {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: false,
        RestrictPublicBuckets: false,
      },
      {
        BlockPublicAcls: false,
        BlockPublicPolicy: false,
        IgnorePublicAcls: false,
        RestrictPublicBuckets: true,
      },
    ],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetPublicAccessBlockCommand({ Bucket }))
          .then((answer) => answer.PublicAccessBlockConfiguration),
      ),
    write: (s3, Bucket) =>
      s3.send(
        new PutPublicAccessBlockCommand({
          Bucket,
          PublicAccessBlockConfiguration: { BlockPublicAcls: true, BlockPublicPolicy: true },
        }),
      ),
    drift: (s3, Bucket) =>
      s3.send(
        new PutPublicAccessBlockCommand({
          Bucket,
          PublicAccessBlockConfiguration: { BlockPublicAcls: false },
        }),
      ),
  },
  {
    name: "lifecycle",
    specs: [
      {
        lifecycle: {
          rules: [
            { id: "old", filter: { prefix: "logs/" }, expiration: { days: 30 } },
            {
              id: "cold",
              transitions: [{ days: 60, storageClass: "GLACIER" }],
              noncurrentVersionExpiration: { noncurrentDays: 7 },
            },
          ],
        },
      },
      {
        lifecycle: {
          rules: [
            {
              id: "old",
              status: "Disabled",
              filter: { and: { prefix: "logs/", tags: [{ key: "a", value: "b" }] } },
              expiration: { date: "2030-01-31" },
            },
          ],
        },
      },
    ],
    states: [
      [
        { ID: "old", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 30 } },
        {
          ID: "cold",
          Status: "Enabled",
          Transitions: [{ Days: 60, StorageClass: "GLACIER" }],
          NoncurrentVersionExpiration: { NoncurrentDays: 7 },
        },
      ],
      [
        {
          ID: "old",
          Status: "Disabled",
          Filter: { And: { Prefix: "logs/", Tags: [{ Key: "a", Value: "b" }] } },
          Expiration: { Date: new Date("2030-01-31") },
        },
      ],
    ],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket })).then((answer) => answer.Rules),
      ),
    write: (s3, Bucket) =>
      rules(s3, Bucket, [
        { ID: "old", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 30 } },
        {
          ID: "cold",
          Status: "Enabled",
          Filter: { Prefix: "" },
          Transitions: [{ Days: 60, StorageClass: "GLACIER" }],
          NoncurrentVersionExpiration: { NoncurrentDays: 7 },
        },
      ]),
    drift: (s3, Bucket) =>
      rules(s3, Bucket, [
        { ID: "old", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 3 } },
      ]),
  },
];
