import {
  type AnalyticsConfiguration,
  ListBucketAnalyticsConfigurationsCommand,
  PutBucketAnalyticsConfigurationCommand,
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
];
