import {
  CreateBucketCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  type LoggingEnabled,
  GetBucketReplicationCommand,
  GetObjectLockConfigurationCommand,
  type NotificationConfiguration,
  type ObjectLockRule,
  PutBucketLoggingCommand,
  PutBucketNotificationConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  PutObjectLockConfigurationCommand,
  type ReplicationRule,
  type S3Client,
} from "@aws-sdk/client-s3";
import { orUndefined, type SettingSample } from "./setting-sample.ts";

const logging = (s3: S3Client, Bucket: string, enabled: LoggingEnabled) =>
  s3.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: { LoggingEnabled: enabled } }));
const takesLogs = (bucket: string): string =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "logging.s3.amazonaws.com" },
        Action: ["s3:PutObject"],
        Resource: `arn:aws:s3:::${bucket}/*`,
      },
    ],
  });
const everyone = "http://acs.amazonaws.com/groups/global/AllUsers";
const user = "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a";

const notify = (s3: S3Client, Bucket: string, configuration: NotificationConfiguration) =>
  s3.send(
    new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: configuration }),
  );
const lambdaArn = "arn:aws:lambda:us-east-1:123456789012:function:resize";
const queueArn = "arn:aws:sqs:us-east-1:123456789012:uploads";
const topicArn = "arn:aws:sns:us-east-1:123456789012:removals";

const notifications: NotificationConfiguration = {
  LambdaFunctionConfigurations: [
    {
      Id: "resize",
      LambdaFunctionArn: lambdaArn,
      Events: ["s3:ObjectCreated:Put", "s3:ObjectCreated:Copy"],
      Filter: {
        Key: {
          FilterRules: [
            { Name: "suffix", Value: ".png" },
            { Name: "prefix", Value: "images/" },
          ],
        },
      },
    },
  ],
  QueueConfigurations: [{ Id: "uploads", QueueArn: queueArn, Events: ["s3:ObjectCreated:*"] }],
  TopicConfigurations: [{ Id: "removals", TopicArn: topicArn, Events: ["s3:ObjectRemoved:*"] }],
};
/** All three lists. */
const listsOf = ({
  LambdaFunctionConfigurations = [],
  QueueConfigurations = [],
  TopicConfigurations = [],
}: NotificationConfiguration) => [
  ...LambdaFunctionConfigurations,
  ...QueueConfigurations,
  ...TopicConfigurations,
];

const enableVersioning = (s3: S3Client, Bucket: string) =>
  s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
const lock = (s3: S3Client, Bucket: string, Rule: ObjectLockRule) =>
  s3.send(
    new PutObjectLockConfigurationCommand({
      Bucket,
      ObjectLockConfiguration: { ObjectLockEnabled: "Enabled", Rule },
    }),
  );

const replicate = (s3: S3Client, Bucket: string, Role: string, Rules: ReplicationRule[]) =>
  s3.send(new PutBucketReplicationCommand({ Bucket, ReplicationConfiguration: { Role, Rules } }));
const role = "arn:aws:iam::123456789012:role/copies";
const copies = "arn:aws:s3:::copies";
const minutes = { Minutes: 15 };
const toCopies: ReplicationRule = {
  ID: "all",
  Priority: 2,
  Status: "Enabled",
  Filter: { Prefix: "" },
  DeleteMarkerReplication: { Status: "Disabled" },
  Destination: {
    Bucket: copies,
    Account: "210987654321",
    StorageClass: "STANDARD_IA",
    AccessControlTranslation: { Owner: "Destination" },
    ReplicationTime: { Status: "Enabled", Time: minutes },
    Metrics: { Status: "Enabled", EventThreshold: minutes },
  },
};
const toArchive: ReplicationRule = {
  ID: "archive",
  Priority: 1,
  Status: "Disabled",
  Filter: { Prefix: "" },
  DeleteMarkerReplication: { Status: "Disabled" },
  Destination: { Bucket: "arn:aws:s3:::archive" },
};

/** Settings by which a bucket sends something elsewhere, and the lock of its objects. */
export const flowSamples: readonly SettingSample[] = [
  {
    name: "logging",
    async prepare(s3) {
      for (const Bucket of ["logs-a", "logs-b"]) {
        await s3.send(new CreateBucketCommand({ Bucket }));
        await s3.send(new PutBucketPolicyCommand({ Bucket, Policy: takesLogs(Bucket) }));
      }
    },
    specs: [
      {
        logging: {
          loggingEnabled: {
            targetBucket: "logs-a",
            targetPrefix: "requests/",
            targetGrants: [
              { grantee: { type: "Group", uri: everyone }, permission: "READ" },
              { grantee: { type: "CanonicalUser", id: user }, permission: "FULL_CONTROL" },
            ],
          },
        },
      },
      {
        logging: { loggingEnabled: { targetBucket: "logs-b", targetObjectKeyFormat: { simplePrefix: {} } } },
      },
    ],
    states: [
      {
        TargetBucket: "logs-a",
        TargetPrefix: "requests/",
        TargetGrants: [
          { Grantee: { URI: everyone }, Permission: "READ" },
          { Grantee: { ID: user }, Permission: "FULL_CONTROL" },
        ],
      },
      { TargetBucket: "logs-b", TargetPrefix: "" },
    ],
    without: undefined,
    read: (s3, Bucket) =>
      s3.send(new GetBucketLoggingCommand({ Bucket })).then((answer) => answer.LoggingEnabled),
    write: (s3, Bucket) =>
      logging(s3, Bucket, {
        TargetBucket: "logs-a",
        TargetPrefix: "requests/",
        TargetGrants: [
          { Grantee: { Type: "Group", URI: everyone }, Permission: "READ" },
          { Grantee: { Type: "CanonicalUser", ID: user }, Permission: "FULL_CONTROL" },
        ],
      }),
    drift: (s3, Bucket) => logging(s3, Bucket, { TargetBucket: "logs-a", TargetPrefix: "other/" }),
  },
  {
    name: "notification",
    specs: [
      {
        notification: {
          lambdaFunctionConfigurations: [
            {
              id: "resize",
              lambdaFunctionArn: lambdaArn,
              events: ["s3:ObjectCreated:Put", "s3:ObjectCreated:Copy"],
              filter: {
                key: {
                  filterRules: [
                    { name: "suffix", value: ".png" },
                    { name: "prefix", value: "images/" },
                  ],
                },
              },
            },
          ],
          queueConfigurations: [{ id: "uploads", queueArn, events: ["s3:ObjectCreated:*"] }],
          topicConfigurations: [{ id: "removals", topicArn, events: ["s3:ObjectRemoved:*"] }],
        },
      },
      {
        notification: {
          topicConfigurations: [
            {
              id: "uploads",
              topicArn,
              events: ["s3:ObjectCreated:*"],
              filter: { key: { filterRules: [{ name: "prefix", value: "in/" }] } },
            },
          ],
        },
      },
    ],
    states: [
      listsOf(notifications),
      [
        {
          Id: "uploads",
          TopicArn: topicArn,
          Events: ["s3:ObjectCreated:*"],
          Filter: { Key: { FilterRules: [{ Name: "prefix", Value: "in/" }] } },
        },
      ],
    ],
    without: [],
    read: async (s3, Bucket) =>
      listsOf(await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }))),
    write: (s3, Bucket) => notify(s3, Bucket, notifications),
    drift: (s3, Bucket) =>
      notify(s3, Bucket, {
        QueueConfigurations: [{ Id: "uploads", QueueArn: queueArn, Events: ["s3:ObjectCreated:Put"] }],
      }),
  },
  {
    name: "objectLockConfiguration",
    specs: [
      {
        versioning: "Enabled",
        objectLockConfiguration: { rule: { defaultRetention: { mode: "GOVERNANCE", days: 30 } } },
      },
      {
        versioning: "Enabled",
        objectLockConfiguration: { rule: { defaultRetention: { mode: "COMPLIANCE", years: 2 } } },
      },
    ],
    states: [
      { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: 30 } } },
      { ObjectLockEnabled: "Enabled", Rule: { DefaultRetention: { Mode: "COMPLIANCE", Years: 2 } } },
    ],
    without: { ObjectLockEnabled: "Enabled" },
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetObjectLockConfigurationCommand({ Bucket }))
          .then((answer) => answer.ObjectLockConfiguration),
      ),
    async write(s3, Bucket) {
      await enableVersioning(s3, Bucket);
      await lock(s3, Bucket, { DefaultRetention: { Mode: "GOVERNANCE", Days: 30 } });
    },
    drift: (s3, Bucket) => lock(s3, Bucket, { DefaultRetention: { Mode: "GOVERNANCE", Days: 3 } }),
  },
  {
    name: "replication",
    specs: [
      {
        versioning: "Enabled",
        replication: {
          role,
          rules: [
            {
              id: "all",
              priority: 2,
              deleteMarkerReplication: { status: "Disabled" },
              destination: {
                bucket: copies,
                account: "210987654321",
                storageClass: "STANDARD_IA",
                accessControlTranslation: { owner: "Destination" },
                replicationTime: { status: "Enabled", time: { minutes: 15 } },
                metrics: { status: "Enabled", eventThreshold: { minutes: 15 } },
              },
            },
            {
              id: "archive",
              priority: 1,
              status: "Disabled",
              destination: { bucket: "arn:aws:s3:::archive" },
            },
          ],
        },
      },
      {
        versioning: "Enabled",
        replication: {
          role: "arn:aws:iam::123456789012:role/other",
          rules: [{ id: "all", priority: 3, destination: { bucket: copies, storageClass: "GLACIER" } }],
        },
      },
    ],
    states: [
      { Role: role, Rules: [toCopies, toArchive] },
      {
        Role: "arn:aws:iam::123456789012:role/other",
        Rules: [
          {
            ID: "all",
            Priority: 3,
            Status: "Enabled",
            Filter: { Prefix: "" },
            DeleteMarkerReplication: { Status: "Disabled" },
            Destination: { Bucket: copies, StorageClass: "GLACIER" },
          },
        ],
      },
    ],
    without: undefined,
    read: (s3, Bucket) =>
      orUndefined(
        s3
          .send(new GetBucketReplicationCommand({ Bucket }))
          .then((answer) => answer.ReplicationConfiguration),
      ),
    async write(s3, Bucket) {
      await enableVersioning(s3, Bucket);
      await replicate(s3, Bucket, role, [toCopies, toArchive]);
    },
    drift: (s3, Bucket) => replicate(s3, Bucket, role, [{ ...toCopies, Status: "Disabled" }]),
  },
];
