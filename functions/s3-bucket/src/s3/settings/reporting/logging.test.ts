import { GetBucketLoggingCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { readyOf } from "../../../testing/bucket-scene.ts";
import { keptInProxy } from "../../../testing/kept-in-proxy.ts";

/*
 * The server of the tests does not keep the format of keys:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_TargetObjectKeyFormat.html
 */
const scene = await bucketSceneOfFile();
const to = { targetBucket: "logs", targetPrefix: "a/" };
const simple = { loggingEnabled: { ...to, targetObjectKeyFormat: { simplePrefix: {} } } };

test.each([
  [simple, { SimplePrefix: {} }],
  [
    { loggingEnabled: { ...to, targetObjectKeyFormat: { partitionedPrefix: {} } } },
    { PartitionedPrefix: {} },
  ],
  [
    {
      loggingEnabled: {
        ...to,
        targetObjectKeyFormat: { partitionedPrefix: { partitionDateSource: "DeliveryTime" as const } },
      },
    },
    { PartitionedPrefix: { PartitionDateSource: "DeliveryTime" } },
  ],
])("the format of keys is written and kept: %j", async (logging, format) => {
  const kept = keptInProxy(scene, "BucketLogging");
  const object = scene.object({ logging });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  const { LoggingEnabled } = await kept.s3.send(new GetBucketLoggingCommand({ Bucket: object.bucketName }));
  expect(LoggingEnabled?.TargetObjectKeyFormat).toEqual(format);
});

const grant = (grantee: string, permission: string): string =>
  `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${grantee}</Grantee><Permission>${permission}</Permission></Grant>`;
const user = (name: string): string => `xsi:type="CanonicalUser"><ID>${name}</ID>`;
const readers = (...grants: string[]): string => `<TargetGrants>${grants.join("")}</TargetGrants>`;
const partitioned =
  "<TargetObjectKeyFormat><PartitionedPrefix><PartitionDateSource>EventTime</PartitionDateSource></PartitionedPrefix></TargetObjectKeyFormat>";
const given = {
  loggingEnabled: {
    ...to,
    targetGrants: [
      { grantee: { type: "CanonicalUser" as const, id: "a" }, permission: "READ" as const },
      { grantee: { type: "CanonicalUser" as const, id: "b" }, permission: "WRITE" as const },
    ],
  },
};
const both = [grant(user("a"), "READ"), grant(user("b"), "WRITE")];

test.each([
  ["the default format that is not returned", simple, "", 0],
  ["another format than the default", simple, partitioned, 1],
  [
    "a format and grants that the spec does not name",
    { loggingEnabled: to },
    partitioned + readers(...both),
    0,
  ],
  ["grants in another order", given, readers(...both.toReversed()), 0],
  [
    "a display name of a grantee",
    given,
    readers(grant(`${user("a")}<DisplayName>z</DisplayName>`, "READ"), grant(user("b"), "WRITE")),
    0,
  ],
  ["a grantee too many", given, readers(...both, grant(user("c"), "READ")), 1],
  ["another permission", given, readers(grant(user("a"), "FULL_CONTROL"), grant(user("b"), "WRITE")), 1],
  ["no grants where none are to be", { loggingEnabled: { ...to, targetGrants: [] } }, "", 0],
  ["grants where none are to be", { loggingEnabled: { ...to, targetGrants: [] } }, readers(...both), 1],
])("an adopted bucket that has %s: %#", async (_, logging, fields, writes) => {
  const object = scene.object({ adopt: "IfUnowned", logging });
  await object.bucket.make();
  const kept = keptInProxy(scene, "BucketLogging");
  kept.body = `<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket>${fields}<TargetPrefix>a/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`;
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes().filter((each) => each === "PutBucketLogging")).toHaveLength(writes);
});

test("a prefix that the server leaves out is the empty one", async () => {
  const object = scene.object({ adopt: "IfUnowned", logging: { loggingEnabled: { targetBucket: "logs" } } });
  await object.bucket.make();
  keptInProxy(scene, "BucketLogging").body =
    "<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket></LoggingEnabled></BucketLoggingStatus>";
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
});
