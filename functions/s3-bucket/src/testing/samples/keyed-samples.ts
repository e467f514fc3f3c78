import {
  type AnalyticsConfiguration,
  GetBucketRequestPaymentCommand,
  type IntelligentTieringConfiguration,
  type InventoryConfiguration,
  ListBucketAnalyticsConfigurationsCommand,
  ListBucketIntelligentTieringConfigurationsCommand,
  ListBucketInventoryConfigurationsCommand,
  ListBucketMetricsConfigurationsCommand,
  type MetricsConfiguration,
  type Payer,
  PutBucketAnalyticsConfigurationCommand,
  PutBucketIntelligentTieringConfigurationCommand,
  PutBucketInventoryConfigurationCommand,
  PutBucketMetricsConfigurationCommand,
  PutBucketRequestPaymentCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import type { SettingSample } from "./setting-sample.ts";

const putAnalytics = (s3: S3Client, Bucket: string) => (AnalyticsConfiguration: AnalyticsConfiguration) =>
  s3.send(
    new PutBucketAnalyticsConfigurationCommand({
      Bucket,
      Id: AnalyticsConfiguration.Id,
      AnalyticsConfiguration,
    }),
  );
const putTiering =
  (s3: S3Client, Bucket: string) => (IntelligentTieringConfiguration: IntelligentTieringConfiguration) =>
    s3.send(
      new PutBucketIntelligentTieringConfigurationCommand({
        Bucket,
        Id: IntelligentTieringConfiguration.Id,
        IntelligentTieringConfiguration,
      }),
    );
const putInventory = (s3: S3Client, Bucket: string) => (InventoryConfiguration: InventoryConfiguration) =>
  s3.send(
    new PutBucketInventoryConfigurationCommand({
      Bucket,
      Id: InventoryConfiguration.Id,
      InventoryConfiguration,
    }),
  );
const putMetrics = (s3: S3Client, Bucket: string) => (MetricsConfiguration: MetricsConfiguration) =>
  s3.send(
    new PutBucketMetricsConfigurationCommand({ Bucket, Id: MetricsConfiguration.Id, MetricsConfiguration }),
  );
const putPayer = (s3: S3Client, Bucket: string, Payer: Payer) =>
  s3.send(new PutBucketRequestPaymentCommand({ Bucket, RequestPaymentConfiguration: { Payer } }));

const analyses: readonly AnalyticsConfiguration[] = [
  { Id: "all", StorageClassAnalysis: {} },
  {
    Id: "logs",
    Filter: { And: { Prefix: "logs/", Tags: [{ Key: "team", Value: "a" }] } },
    StorageClassAnalysis: {
      DataExport: {
        OutputSchemaVersion: "V_1",
        Destination: {
          S3BucketDestination: {
            Format: "CSV",
            BucketAccountId: "123456789012",
            Bucket: "arn:aws:s3:::reports",
            Prefix: "analytics",
          },
        },
      },
    },
  },
];

const tierings: readonly IntelligentTieringConfiguration[] = [
  {
    Id: "cold",
    Status: "Enabled",
    Filter: { Tag: { Key: "team", Value: "a" } },
    Tierings: [
      { Days: 200, AccessTier: "DEEP_ARCHIVE_ACCESS" },
      { Days: 90, AccessTier: "ARCHIVE_ACCESS" },
    ],
  },
  { Id: "off", Status: "Disabled", Tierings: [{ Days: 730, AccessTier: "DEEP_ARCHIVE_ACCESS" }] },
];

const inventories: readonly InventoryConfiguration[] = [
  {
    Id: "daily",
    IsEnabled: true,
    Filter: { Prefix: "data/" },
    Destination: {
      S3BucketDestination: {
        AccountId: "123456789012",
        Bucket: "arn:aws:s3:::reports",
        Format: "Parquet",
        Prefix: "inventory",
        Encryption: { SSEKMS: { KeyId: "arn:aws:kms:us-east-1:123456789012:key/0d1e2f30" } },
      },
    },
    Schedule: { Frequency: "Daily" },
    IncludedObjectVersions: "Current",
    OptionalFields: ["Size", "ETag", "StorageClass"],
  },
  {
    Id: "weekly",
    IsEnabled: false,
    Destination: {
      S3BucketDestination: { Bucket: "arn:aws:s3:::reports", Format: "CSV", Encryption: { SSES3: {} } },
    },
    Schedule: { Frequency: "Weekly" },
    IncludedObjectVersions: "All",
  },
];

const accessPoint = "arn:aws:s3:us-east-1:123456789012:accesspoint/readers";
const counts: readonly MetricsConfiguration[] = [
  { Id: "all" },
  {
    Id: "by.team-a_1",
    Filter: {
      And: { Prefix: "a/", Tags: [{ Key: "team", Value: "a" }], AccessPointArn: accessPoint },
    },
  },
];

const each = async <Item>(items: readonly Item[], put: (item: Item) => Promise<unknown>): Promise<void> => {
  for (const item of items) await put(item);
};

export const keyedSamples: readonly SettingSample[] = [
  {
    name: "analytics",
    specs: [
      {
        analytics: [
          { id: "all" },
          {
            id: "logs",
            filter: { and: { prefix: "logs/", tags: [{ key: "team", value: "a" }] } },
            storageClassAnalysis: {
              dataExport: {
                destination: {
                  s3BucketDestination: {
                    bucketAccountId: "123456789012",
                    bucket: "arn:aws:s3:::reports",
                    prefix: "analytics",
                  },
                },
              },
            },
          },
        ],
      },
      { analytics: [{ id: "logs", filter: { prefix: "logs/" } }] },
    ],
    states: [analyses, [{ Id: "logs", Filter: { Prefix: "logs/" }, StorageClassAnalysis: {} }]],
    without: undefined,
    read: async (s3, Bucket) =>
      (await s3.send(new ListBucketAnalyticsConfigurationsCommand({ Bucket }))).AnalyticsConfigurationList,
    write: (s3, Bucket) => each(analyses, putAnalytics(s3, Bucket)),
    drift: (s3, Bucket) =>
      putAnalytics(s3, Bucket)({ Id: "all", Filter: { Prefix: "a" }, StorageClassAnalysis: {} }),
  },
  {
    name: "intelligentTiering",
    specs: [
      {
        intelligentTiering: [
          {
            id: "cold",
            filter: { tag: { key: "team", value: "a" } },
            tierings: [
              { days: 200, accessTier: "DEEP_ARCHIVE_ACCESS" },
              { days: 90, accessTier: "ARCHIVE_ACCESS" },
            ],
          },
          { id: "off", status: "Disabled", tierings: [{ days: 730, accessTier: "DEEP_ARCHIVE_ACCESS" }] },
        ],
      },
      {
        intelligentTiering: [
          {
            id: "off",
            filter: {
              and: {
                prefix: "a/",
                tags: [
                  { key: "team", value: "a" },
                  { key: "old", value: "" },
                ],
              },
            },
            tierings: [{ days: 125, accessTier: "ARCHIVE_ACCESS" }],
          },
        ],
      },
    ],
    states: [
      tierings,
      [
        {
          Id: "off",
          Status: "Enabled",
          Filter: {
            And: {
              Prefix: "a/",
              Tags: [
                { Key: "team", Value: "a" },
                { Key: "old", Value: "" },
              ],
            },
          },
          Tierings: [{ Days: 125, AccessTier: "ARCHIVE_ACCESS" }],
        },
      ],
    ],
    without: undefined,
    read: async (s3, Bucket) =>
      (await s3.send(new ListBucketIntelligentTieringConfigurationsCommand({ Bucket })))
        .IntelligentTieringConfigurationList,
    write: (s3, Bucket) => each(tierings, putTiering(s3, Bucket)),
    drift: (s3, Bucket) =>
      putTiering(
        s3,
        Bucket,
      )({ Id: "off", Status: "Disabled", Tierings: [{ Days: 180, AccessTier: "DEEP_ARCHIVE_ACCESS" }] }),
  },
  {
    name: "inventory",
    specs: [
      {
        inventory: [
          {
            id: "daily",
            filter: { prefix: "data/" },
            destination: {
              s3BucketDestination: {
                accountId: "123456789012",
                bucket: "arn:aws:s3:::reports",
                format: "Parquet",
                prefix: "inventory",
                encryption: { sseKms: { keyId: "arn:aws:kms:us-east-1:123456789012:key/0d1e2f30" } },
              },
            },
            schedule: { frequency: "Daily" },
            includedObjectVersions: "Current",
            optionalFields: ["Size", "ETag", "StorageClass"],
          },
          {
            id: "weekly",
            isEnabled: false,
            destination: {
              s3BucketDestination: {
                bucket: "arn:aws:s3:::reports",
                format: "CSV",
                encryption: { sseS3: {} },
              },
            },
            schedule: { frequency: "Weekly" },
            includedObjectVersions: "All",
          },
        ],
      },
      {
        inventory: [
          {
            id: "daily",
            destination: { s3BucketDestination: { bucket: "arn:aws:s3:::lists", format: "ORC" } },
            schedule: { frequency: "Weekly" },
            includedObjectVersions: "All",
            optionalFields: ["ChecksumAlgorithm"],
          },
        ],
      },
    ],
    states: [
      inventories,
      [
        {
          Id: "daily",
          IsEnabled: true,
          Destination: { S3BucketDestination: { Bucket: "arn:aws:s3:::lists", Format: "ORC" } },
          Schedule: { Frequency: "Weekly" },
          IncludedObjectVersions: "All",
          OptionalFields: ["ChecksumAlgorithm"],
        },
      ],
    ],
    without: undefined,
    read: async (s3, Bucket) =>
      (await s3.send(new ListBucketInventoryConfigurationsCommand({ Bucket }))).InventoryConfigurationList,
    write: (s3, Bucket) => each(inventories, putInventory(s3, Bucket)),
    drift: (s3, Bucket) =>
      putInventory(
        s3,
        Bucket,
      )({
        Id: "weekly",
        IsEnabled: false,
        Destination: {
          S3BucketDestination: {
            Bucket: "arn:aws:s3:::reports",
            Format: "CSV",
            Encryption: { SSEKMS: { KeyId: "other" } },
          },
        },
        Schedule: { Frequency: "Weekly" },
        IncludedObjectVersions: "All",
      }),
  },
  {
    name: "metrics",
    specs: [
      {
        metrics: [
          { id: "all" },
          {
            id: "by.team-a_1",
            filter: {
              and: { prefix: "a/", tags: [{ key: "team", value: "a" }], accessPointArn: accessPoint },
            },
          },
        ],
      },
      { metrics: [{ id: "by.team-a_1", filter: { accessPointArn: accessPoint } }] },
    ],
    states: [counts, [{ Id: "by.team-a_1", Filter: { AccessPointArn: accessPoint } }]],
    without: undefined,
    read: async (s3, Bucket) =>
      (await s3.send(new ListBucketMetricsConfigurationsCommand({ Bucket }))).MetricsConfigurationList,
    write: (s3, Bucket) => each(counts, putMetrics(s3, Bucket)),
    drift: (s3, Bucket) => putMetrics(s3, Bucket)({ Id: "all", Filter: { Tag: { Key: "a", Value: "b" } } }),
  },
  {
    name: "requestPayment",
    specs: [{ requestPayment: { payer: "Requester" } }, { requestPayment: { payer: "BucketOwner" } }],
    states: ["Requester", "BucketOwner"],
    without: "BucketOwner",
    read: async (s3, Bucket) => (await s3.send(new GetBucketRequestPaymentCommand({ Bucket }))).Payer,
    write: (s3, Bucket) => putPayer(s3, Bucket, "Requester"),
    drift: (s3, Bucket) => putPayer(s3, Bucket, "BucketOwner"),
  },
];
