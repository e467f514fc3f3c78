import {
  type AnalyticsConfiguration,
  DeleteBucketMetricsConfigurationCommand,
  ListBucketAnalyticsConfigurationsCommand,
  ListBucketMetricsConfigurationsCommand,
  type MetricsConfiguration,
  PutBucketAnalyticsConfigurationCommand,
  PutBucketIntelligentTieringConfigurationCommand,
  PutBucketInventoryConfigurationCommand,
  PutBucketMetricsConfigurationCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, test } from "vitest";
import { readyOf, type TestBucket } from "../../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import type { S3Call, S3Fault } from "../../../testing/s3-fault-proxy.ts";
import { metricsSpec } from "./metrics.ts";

/* Configurations that have a request each: what the samples in settings.test.ts do not show. */
const scene = await bucketSceneOfFile();
const { withConfigurations: s3, proxy } = scene;

const putMetrics = (Bucket: string, MetricsConfiguration: MetricsConfiguration) =>
  s3.send(
    new PutBucketMetricsConfigurationCommand({ Bucket, Id: MetricsConfiguration.Id, MetricsConfiguration }),
  );
const putAnalytics = (Bucket: string, AnalyticsConfiguration: AnalyticsConfiguration) =>
  s3.send(
    new PutBucketAnalyticsConfigurationCommand({
      Bucket,
      Id: AnalyticsConfiguration.Id,
      AnalyticsConfiguration,
    }),
  );
const metricsOf = async (Bucket: string): Promise<readonly MetricsConfiguration[]> => {
  const all: MetricsConfiguration[] = [];
  let answer = await s3.send(new ListBucketMetricsConfigurationsCommand({ Bucket }));
  all.push(...(answer.MetricsConfigurationList ?? []));
  while (answer.NextContinuationToken !== undefined) {
    const { NextContinuationToken: ContinuationToken } = answer;
    answer = await s3.send(new ListBucketMetricsConfigurationsCommand({ Bucket, ContinuationToken }));
    all.push(...(answer.MetricsConfigurationList ?? []));
  }
  return all;
};
const analyticsOf = async (Bucket: string) =>
  (await s3.send(new ListBucketAnalyticsConfigurationsCommand({ Bucket }))).AnalyticsConfigurationList;

const idOf = ({ url }: Pick<S3Call, "url">): string => new URL(url, "http://s3").searchParams.get("id") ?? "";
/** The writes of configurations so far, such as `Put a`. */
const writes = (): readonly string[] =>
  proxy.calls
    .filter(({ operation }) => /^(Put|Delete).*Configuration$/.test(operation))
    .map((call) => `${call.operation.replace(/Bucket.*/, "")} ${idOf(call)}`);
const refusePutOf = (id: string, fault: S3Fault) => {
  proxy.fault = (call) => (call.operation.startsWith("Put") && idOf(call) === id ? fault : "none");
};
const invalid: S3Fault = { status: 400, code: "InvalidArgument" };

const changed = async (object: TestBucket, spec: Partial<TestBucket["spec"]>) => {
  proxy.calls.length = 0;
  object.spec = { ...object.spec, ...spec };
  return object.reconcileUntilStable();
};

describe("configurations of others", () => {
  test("are neither written nor removed, and only what differs is written", async () => {
    const object = await scene.stableObject({ metrics: [{ id: "b" }, { id: "c" }, { id: "d" }] });
    const { bucketName } = object;
    const others = { Id: "a", Filter: { Tag: { Key: "others", Value: "" } } };
    await putMetrics(bucketName, others);
    await putMetrics(bucketName, { Id: "c", Filter: { Prefix: "drift" } });
    await changed(object, { metrics: [{ id: "b" }, { id: "c" }] });
    expect(writes()).toEqual(["Delete d", "Put c"]);
    expect(await metricsOf(bucketName)).toEqual([others, { Id: "b" }, { Id: "c" }]);
    await changed(object, { metrics: undefined });
    expect(writes()).toEqual(["Delete b", "Delete c"]);
    expect(await metricsOf(bucketName)).toEqual([others]);
  });

  test("may fill several pages, and those of the spec are found on the last", async () => {
    const object = await scene.stableObject({ metrics: [{ id: "z", filter: { prefix: "z" } }] });
    const { bucketName } = object;
    const ids = Array.from({ length: 204 }, (_, i) => `m${String(i).padStart(3, "0")}`);
    await Promise.all(ids.map((Id) => putMetrics(bucketName, { Id })));
    await changed(object, {});
    expect(writes()).toEqual([]);
    expect(readyOf(await changed(object, { metrics: [{ id: "z" }] }))).toBeUndefined();
    expect(writes()).toEqual(["Put z"]);
    expect(await metricsOf(bucketName)).toEqual([...ids, "z"].map((Id) => ({ Id })));
  });
});

test("one that is removed while it is to be removed is no error", async () => {
  const object = await scene.stableObject({ metrics: [{ id: "a" }, { id: "b" }] });
  const { bucketName: Bucket } = object;
  proxy.before("DeleteBucketMetricsConfiguration", () =>
    s3.send(new DeleteBucketMetricsConfigurationCommand({ Bucket, Id: "a" })).catch(() => undefined),
  );
  expect(readyOf(await changed(object, { metrics: undefined }))).toBeUndefined();
  expect(writes()).toEqual(["Delete a", "Delete b"]);
  expect(object.status.written).toBeUndefined();
});

test("a removal that is denied is reported, and stays to be done", async () => {
  const object = await scene.stableObject({ metrics: [{ id: "a" }] });
  proxy.faultOn("DeleteBucketMetricsConfiguration", { status: 403, code: "AccessDenied" });
  const report = readyOf(await changed(object, { metrics: undefined }));
  expect(report).toMatchObject({ status: "False", reason: "AccessDenied" });
  proxy.forget();
  expect(readyOf(await changed(object, {}))).toBeUndefined();
  expect(await metricsOf(object.bucketName)).toEqual([]);
});

describe("one that the server refuses", () => {
  const metrics = [{ id: "a" }, { id: "bad" }, { id: "c" }];

  test("does not keep the others from being written, and is named", async () => {
    refusePutOf("bad", invalid);
    const object = scene.object({ metrics });
    const report = readyOf(await object.reconcileUntilStable());
    expect(report).toMatchObject({ status: "False", reason: "InvalidSetting" });
    expect(report?.message).toContain("Correct spec.metrics. It is the item bad.");
    expect(await metricsOf(object.bucketName)).toEqual([{ Id: "a" }, { Id: "c" }]);
    expect(Object.keys(object.status.written ?? {}).sort()).toEqual(["metrics/a", "metrics/c"]);
  });

  test("leaves the others ours: they are removed with the spec", async () => {
    refusePutOf("bad", invalid);
    const object = await scene.stableObject({ metrics });
    await changed(object, { metrics: undefined });
    expect(writes()).toEqual(["Delete a", "Delete c"]);
    expect(await metricsOf(object.bucketName)).toEqual([]);
  });

  test("because a bucket may have no more is reported so", async () => {
    refusePutOf("bad", { status: 400, code: "TooManyConfigurations" });
    const result = await scene.object({ metrics }).reconcileUntilStable();
    expect(readyOf(result)).toMatchObject({ reason: "InvalidSetting" });
  });

  test("for a reason that all have is the last to be sent", async () => {
    refusePutOf("bad", { status: 403, code: "AccessDenied" });
    const object = scene.object({ metrics });
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)).toMatchObject({ status: "False", reason: "AccessDenied" });
    expect(writes()).toEqual(["Put a", "Put bad"]);
    expect(Object.keys(object.status.written ?? {})).toEqual(["metrics/a"]);
  });
});

test("a run that dies between two of them leaves both ours", async () => {
  refusePutOf("b", "cut-before");
  const object = scene.object({ metrics: [{ id: "a" }, { id: "b" }] });
  await expect(object.reconcileUntilStable()).rejects.toThrow();
  proxy.forget();
  await object.reconcileUntilStable();
  expect(writes()).toEqual(["Put b"]);
  await changed(object, { metrics: undefined });
  expect(await metricsOf(object.bucketName)).toEqual([]);
});

test("a part that the spec no longer names is taken away", async () => {
  const s3BucketDestination = { bucket: "arn:aws:s3:::reports" };
  const storageClassAnalysis = { dataExport: { destination: { s3BucketDestination } } };
  const object = await scene.stableObject({ analytics: [{ id: "a", storageClassAnalysis }] });
  await changed(object, { analytics: [{ id: "a", storageClassAnalysis: {} }] });
  expect(await analyticsOf(object.bucketName)).toEqual([{ Id: "a", StorageClassAnalysis: {} }]);
});

describe("another spelling is no difference", () => {
  test("of a filter", async () => {
    const object = scene.object({
      adopt: "IfUnowned",
      analytics: [
        { id: "a", filter: { prefix: "" } },
        { id: "b", filter: { prefix: "p", tag: { key: "t", value: "" } } },
        { id: "c", filter: { and: { tags: [{ key: "u", value: "1" }] } } },
      ],
      metrics: [{ id: "a", filter: { and: { accessPointArn: "arn:aws:s3:x" } } }],
    });
    const { bucketName } = object;
    await object.bucket.make();
    const StorageClassAnalysis = {};
    await putAnalytics(bucketName, { Id: "a", StorageClassAnalysis });
    await putAnalytics(bucketName, {
      Id: "b",
      Filter: { And: { Tags: [{ Key: "t", Value: "" }], Prefix: "p" } },
      StorageClassAnalysis,
    });
    await putAnalytics(bucketName, {
      Id: "c",
      Filter: { Tag: { Key: "u", Value: "1" } },
      StorageClassAnalysis,
    });
    await putMetrics(bucketName, { Id: "a", Filter: { AccessPointArn: "arn:aws:s3:x" } });
    expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
    expect(writes()).toEqual([]);
  });

  test("in the order of tiers and of columns", async () => {
    const tierings = [
      { days: 90, accessTier: "ARCHIVE_ACCESS" as const },
      { days: 180, accessTier: "DEEP_ARCHIVE_ACCESS" as const },
    ];
    const report = {
      destination: { s3BucketDestination: { bucket: "arn:aws:s3:::reports", format: "CSV" as const } },
      schedule: { frequency: "Daily" as const },
      includedObjectVersions: "All" as const,
    };
    const object = scene.object({
      adopt: "IfUnowned",
      intelligentTiering: [{ id: "a", tierings }],
      inventory: [
        { id: "a", ...report, optionalFields: ["Size", "ETag"] },
        { id: "b", ...report, filter: { prefix: "" } },
      ],
    });
    const { bucketName: Bucket } = object;
    await object.bucket.make();
    await s3.send(
      new PutBucketIntelligentTieringConfigurationCommand({
        Bucket,
        Id: "a",
        IntelligentTieringConfiguration: {
          Id: "a",
          Status: "Enabled",
          Tierings: [
            { Days: 180, AccessTier: "DEEP_ARCHIVE_ACCESS" },
            { Days: 90, AccessTier: "ARCHIVE_ACCESS" },
          ],
        },
      }),
    );
    for (const Id of ["a", "b"]) {
      await s3.send(
        new PutBucketInventoryConfigurationCommand({
          Bucket,
          Id,
          InventoryConfiguration: {
            Id,
            IsEnabled: true,
            Destination: { S3BucketDestination: { Bucket: "arn:aws:s3:::reports", Format: "CSV" } },
            Schedule: { Frequency: "Daily" },
            IncludedObjectVersions: "All",
            OptionalFields: ["ETag", "Size"],
          },
        }),
      );
    }
    expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
    expect(writes()).toEqual([]);
  });
});

test.each([
  ["a filter with one more condition", { Prefix: "p", Tags: [{ Key: "t", Value: "1" }] }],
  ["an access point more", { Prefix: "p", AccessPointArn: "arn:aws:s3:x" }],
])("%s is a difference", async (_, And) => {
  const object = await scene.stableObject({ metrics: [{ id: "a", filter: { prefix: "p" } }] });
  await putMetrics(object.bucketName, { Id: "a", Filter: { And } });
  await changed(object, {});
  expect(writes()).toEqual(["Put a"]);
  expect(await metricsOf(object.bucketName)).toEqual([{ Id: "a", Filter: { Prefix: "p" } }]);
});

test("a filter reaches the server in the form that it takes, however the spec has it", async () => {
  const tag = { key: "t", value: "1" };
  const object = await scene.stableObject({
    metrics: [
      { id: "a", filter: { accessPointArn: "arn:aws:s3:x", prefix: "" } },
      { id: "b", filter: { accessPointArn: "arn:aws:s3:x", tag } },
      { id: "c", filter: { and: { tags: [tag] } } },
    ],
  });
  expect(await metricsOf(object.bucketName)).toEqual([
    { Id: "a", Filter: { AccessPointArn: "arn:aws:s3:x" } },
    { Id: "b", Filter: { And: { AccessPointArn: "arn:aws:s3:x", Tags: [{ Key: "t", Value: "1" }] } } },
    { Id: "c", Filter: { Tag: { Key: "t", Value: "1" } } },
  ]);
});

test("an id of metrics has only characters that S3 takes", () => {
  const isId = (id: string) => metricsSpec.safeParse([{ id }]).success;
  expect(["a.b-c_D1", "a".repeat(64)].map(isId)).toEqual([true, true]);
  expect(["", "a b", "a/b", "é", "a".repeat(65)].map(isId)).toEqual([false, false, false, false, false]);
});
