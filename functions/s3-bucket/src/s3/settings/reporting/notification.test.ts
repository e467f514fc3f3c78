import { GetBucketNotificationConfigurationCommand, type S3Client } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { readyOf } from "../../../testing/bucket-scene.ts";
import { keptInProxy } from "../../../testing/kept-in-proxy.ts";

/*
 * The server of the tests does not return EventBridge:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_NotificationConfiguration.html
 */
const scene = await bucketSceneOfFile();
const part = "BucketNotificationConfiguration";
const queueArn = "arn:aws:sqs:us-east-1:123456789012:q";
const rule = (name: string, value: string): string =>
  `<FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule>`;
const key = (...rules: string[]): string => `<Filter><S3Key>${rules.join("")}</S3Key></Filter>`;
const queue = (id: string, rest = "<Event>s3:ObjectCreated:*</Event>"): string =>
  `<QueueConfiguration><Id>${id}</Id><Queue>${queueArn}</Queue>${rest}</QueueConfiguration>`;
const bridge = "<EventBridgeConfiguration/>";
const all = (...parts: string[]): string =>
  `<NotificationConfiguration>${parts.join("")}</NotificationConfiguration>`;
const stateOf = async (s3: S3Client, Bucket: string) => {
  const { $metadata: _, ...state } = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
  return state;
};

const created = ["s3:ObjectCreated:*" as const];
const ours = { id: "a", queueArn, events: created };
const filtered = {
  ...ours,
  filter: {
    key: {
      filterRules: [
        { name: "prefix" as const, value: "in/" },
        { name: "suffix" as const, value: ".png" },
      ],
    },
  },
};
const twoEvents = { ...ours, events: ["s3:ObjectRemoved:*" as const, "s3:ObjectCreated:Put" as const] };

test.each([
  [
    "capital names of rules, in another order",
    filtered,
    queue("a", `<Event>s3:ObjectCreated:*</Event>${key(rule("Suffix", ".png"), rule("Prefix", "in/"))}`),
    0,
  ],
  [
    "one rule less",
    filtered,
    queue("a", `<Event>s3:ObjectCreated:*</Event>${key(rule("Prefix", "in/"))}`),
    1,
  ],
  ["a rule more", ours, queue("a", `<Event>s3:ObjectCreated:*</Event>${key(rule("Prefix", "in/"))}`), 1],
  ["a filter without rules", ours, queue("a", `<Event>s3:ObjectCreated:*</Event>${key()}`), 0],
  [
    "events in another order",
    twoEvents,
    queue("a", "<Event>s3:ObjectCreated:Put</Event><Event>s3:ObjectRemoved:*</Event>"),
    0,
  ],
  [
    "an event more",
    ours,
    queue("a", "<Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:*</Event>"),
    1,
  ],
])("an adopted bucket with %s", async (_, item, body, writes) => {
  const object = scene.object({ adopt: "IfUnowned", notification: { queueConfigurations: [item] } });
  await object.bucket.make();
  keptInProxy(scene, part).body = all(body);
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes().filter((each) => each === `Put${part}`)).toHaveLength(writes);
});

test("configurations of others, and EventBridge, stay as they were", async () => {
  const kept = keptInProxy(scene, part);
  const object = scene.object({
    adopt: "IfUnowned",
    notification: { queueConfigurations: [ours], topicConfigurations: [] },
  });
  await object.bucket.make();
  const topicArn = "arn:aws:sns:us-east-1:123456789012:t";
  const lambdaArn = "arn:aws:lambda:us-east-1:123456789012:function:f";
  kept.body = all(
    `<TopicConfiguration><Id>t</Id><Topic>${topicArn}</Topic><Event>s3:ReducedRedundancyLostObject</Event></TopicConfiguration>`,
    `<CloudFunctionConfiguration><Id>l</Id><CloudFunction>${lambdaArn}</CloudFunction><Event>s3:ObjectRemoved:*</Event>${key(rule("Prefix", "x"))}</CloudFunctionConfiguration>`,
    queue("q", "<Event>s3:ObjectTagging:*</Event>"),
    bridge,
  );
  const others = await stateOf(kept.s3, object.bucketName);
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await stateOf(kept.s3, object.bucketName)).toEqual({
    ...others,
    QueueConfigurations: [
      { Id: "q", QueueArn: queueArn, Events: ["s3:ObjectTagging:*"] },
      { Id: "a", QueueArn: queueArn, Events: ["s3:ObjectCreated:*"] },
    ],
  });
  object.spec = { ...object.spec, notification: undefined };
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await stateOf(kept.s3, object.bucketName)).toEqual(others);
  expect(others).toMatchObject({ EventBridgeConfiguration: {}, LambdaFunctionConfigurations: [{ Id: "l" }] });
});

test("EventBridge is switched on, off, and off again when the spec no longer names it", async () => {
  const kept = keptInProxy(scene, part);
  const object = scene.object({});
  const reconcile = async (eventBridge?: boolean) => {
    const { notification } = scene.object({
      notification: { queueConfigurations: [ours], eventBridge },
    }).spec;
    object.spec = { ...object.spec, notification };
    expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
    return stateOf(kept.s3, object.bucketName);
  };
  const QueueConfigurations = [{ Id: "a", QueueArn: queueArn, Events: ["s3:ObjectCreated:*"] }];
  const on = { QueueConfigurations, EventBridgeConfiguration: {} };
  expect(await reconcile(true)).toEqual(on);
  expect(await reconcile(false)).toEqual({ QueueConfigurations });
  expect(await reconcile(true)).toEqual(on);
  expect(await reconcile()).toEqual({ QueueConfigurations });
  expect(Object.keys(object.status.written ?? {})).toEqual(["notification/a"]);
});

test("EventBridge that is to be off, and is not on, is not written", async () => {
  const object = scene.object({ adopt: "IfUnowned", notification: { eventBridge: false } });
  await object.bucket.make();
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
});
