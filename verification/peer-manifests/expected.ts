import { Event } from "@aws-sdk/client-s3";
import type { Portrait } from "./portrait.ts";

const groups = "http://acs.amazonaws.com/groups";
/** The owner of all buckets of the test server. */
const owner = "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a";
const user = (ID: string) => ({ Type: "CanonicalUser", ID }) as const;
const group = (name: string) => ({ Type: "Group", URI: `${groups}/${name}` }) as const;
const kmsKey = "arn:aws:kms:us-east-1:123456789012:key/0d1e2f30";

/**
 * The state that the manifests in `inputs` ask for, in the S3 API's words: written by hand from the manifests of ACK, which
 * ask for the same as those of Crossplane. A setting that is not here must not be in the bucket.
 */
export const expected: Readonly<Record<string, Portrait>> = {
  accelerate: { accelerate: "Enabled" },
  acl: {
    ownershipControls: [{ ObjectOwnership: "ObjectWriter" }],
    acl: [
      { Grantee: user(owner), Permission: "FULL_CONTROL" },
      { Grantee: group("global/AllUsers"), Permission: "READ" },
    ],
  },
  grants: {
    acl: [
      { Grantee: user(owner), Permission: "FULL_CONTROL" },
      { Grantee: user("a1b2c3"), Permission: "READ_ACP" },
      { Grantee: group("global/AuthenticatedUsers"), Permission: "READ_ACP" },
      { Grantee: group("s3/LogDelivery"), Permission: "WRITE" },
    ],
  },
  analytics: {
    analytics: [
      {
        Id: "logs",
        Filter: { And: { Prefix: "logs/", Tags: [{ Key: "team", Value: "a" }] } },
        StorageClassAnalysis: {
          DataExport: {
            OutputSchemaVersion: "V_1",
            Destination: {
              S3BucketDestination: {
                Bucket: "arn:aws:s3:::reports",
                BucketAccountId: "123456789012",
                Format: "CSV",
                Prefix: "analytics",
              },
            },
          },
        },
      },
    ],
  },
  cors: {
    cors: [
      {
        ID: "uploads",
        AllowedHeaders: ["*"],
        AllowedMethods: ["PUT", "POST"],
        AllowedOrigins: ["https://app.example.com"],
        ExposeHeaders: ["ETag"],
        MaxAgeSeconds: 3000,
      },
      { AllowedMethods: ["GET"], AllowedOrigins: ["*"] },
    ],
  },
  encryption: {
    encryption: [
      {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "aws:kms", KMSMasterKeyID: kmsKey },
        BucketKeyEnabled: true,
      },
    ],
  },
  "intelligent-tiering": {
    intelligentTiering: [
      {
        Id: "cold",
        Status: "Enabled",
        Filter: { Tag: { Key: "team", Value: "a" } },
        Tierings: [
          { AccessTier: "ARCHIVE_ACCESS", Days: 125 },
          { AccessTier: "DEEP_ARCHIVE_ACCESS", Days: 180 },
        ],
      },
    ],
  },
  inventory: {
    inventory: [
      {
        Id: "daily",
        IsEnabled: true,
        Filter: { Prefix: "data/" },
        IncludedObjectVersions: "Current",
        Schedule: { Frequency: "Daily" },
        OptionalFields: ["Size", "ETag"],
        Destination: {
          S3BucketDestination: {
            AccountId: "123456789012",
            Bucket: "arn:aws:s3:::reports",
            Format: "ORC",
            Prefix: "inventory",
            Encryption: { SSEKMS: { KeyId: kmsKey } },
          },
        },
      },
    ],
  },
  lifecycle: {
    lifecycle: [
      { ID: "old logs", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 90 } },
      {
        ID: "archive",
        Status: "Disabled",
        Filter: {
          And: {
            Prefix: "data/",
            Tags: [
              { Key: "team", Value: "a" },
              { Key: "old", Value: "yes" },
            ],
          },
        },
        Transitions: [{ Date: new Date("2030-01-31"), StorageClass: "GLACIER" }],
        NoncurrentVersionTransitions: [
          { NoncurrentDays: 30, NewerNoncurrentVersions: 2, StorageClass: "STANDARD_IA" },
        ],
        NoncurrentVersionExpiration: { NoncurrentDays: 365 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
      },
    ],
  },
  logging: {
    logging: {
      TargetBucket: "peers-logs",
      TargetPrefix: "requests/",
      TargetGrants: [{ Grantee: group("global/AllUsers"), Permission: "READ" }],
    },
  },
  metrics: {
    metrics: [
      { Id: "all" },
      { Id: "team-a", Filter: { And: { Prefix: "a/", Tags: [{ Key: "team", Value: "a" }] } } },
    ],
  },
  notification: {
    notification: {
      LambdaFunctionConfigurations: [
        {
          Id: "resize",
          LambdaFunctionArn: "arn:aws:lambda:us-east-1:123456789012:function:resize",
          Events: [Event.s3_ObjectCreated_Put],
          Filter: {
            Key: {
              FilterRules: [
                { Name: "prefix", Value: "images/" },
                { Name: "suffix", Value: ".png" },
              ],
            },
          },
        },
      ],
      QueueConfigurations: [
        {
          Id: "uploads",
          QueueArn: "arn:aws:sqs:us-east-1:123456789012:uploads",
          Events: ["s3:ObjectCreated:*"],
        },
      ],
      TopicConfigurations: [
        {
          Id: "removals",
          TopicArn: "arn:aws:sns:us-east-1:123456789012:removals",
          Events: ["s3:ObjectRemoved:*"],
        },
      ],
    },
  },
  "object-lock": {
    versioning: "Enabled",
    objectLock: {
      ObjectLockEnabled: "Enabled",
      Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: 30 } },
    },
  },
  ownership: { ownershipControls: [{ ObjectOwnership: "BucketOwnerPreferred" }] },
  policy: {
    policy: {
      Version: "2012-10-17",
      Id: "BlockUploads",
      Statement: [
        { Effect: "Deny", Principal: "*", Action: "s3:PutObject", Resource: "arn:aws:s3:::shared/*" },
      ],
    },
  },
  "public-access-block": {
    publicAccessBlock: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: false,
      RestrictPublicBuckets: false,
    },
  },
  replication: {
    versioning: "Enabled",
    replication: {
      Role: "arn:aws:iam::123456789012:role/copies",
      Rules: [
        {
          ID: "all",
          Status: "Enabled",
          Priority: 1,
          Filter: { Prefix: "" },
          DeleteMarkerReplication: { Status: "Disabled" },
          Destination: { Bucket: "arn:aws:s3:::copies", StorageClass: "STANDARD_IA" },
        },
      ],
    },
  },
  "request-payment": { requestPayment: "Requester" },
  tagging: { tags: { first: "1", second: "" } },
  versioning: { versioning: "Enabled" },
  website: {
    website: {
      IndexDocument: { Suffix: "index.html" },
      ErrorDocument: { Key: "error.html" },
      RoutingRules: [
        { Condition: { KeyPrefixEquals: "docs/" }, Redirect: { ReplaceKeyPrefixWith: "documents/" } },
      ],
    },
  },
};
