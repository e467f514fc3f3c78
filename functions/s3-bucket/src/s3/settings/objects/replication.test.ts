import { GetBucketReplicationCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { readyOf, type TestBucket } from "../../../testing/bucket-scene.ts";
import { keptInProxy } from "../../../testing/kept-in-proxy.ts";

/*
 * The server of the tests keeps neither filters nor the replication of delete markers, nor what selects objects:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ReplicationRule.html
 */
const scene = await bucketSceneOfFile();
const stateOf = async ({ s3 }: ReturnType<typeof keptInProxy>, { bucketName }: TestBucket) =>
  (await s3.send(new GetBucketReplicationCommand({ Bucket: bucketName }))).ReplicationConfiguration;

const role = "arn:aws:iam::123456789012:role/r";
const destination = { bucket: "arn:aws:s3:::copies" };
const tags = [
  { key: "a", value: "1" },
  { key: "b", value: "2" },
];

test("every field of a rule is written and kept", async () => {
  const kept = keptInProxy(scene, "BucketReplication");
  const object = scene.object({
    versioning: "Enabled",
    replication: {
      role,
      rules: [
        {
          id: "a",
          priority: 0,
          filter: { and: { prefix: "in/", tags } },
          sourceSelectionCriteria: {
            sseKmsEncryptedObjects: { status: "Enabled" },
            replicaModifications: { status: "Disabled" },
          },
          destination: { ...destination, encryptionConfiguration: { replicaKmsKeyId: "key" } },
        },
        {
          id: "b",
          priority: 1,
          filter: { prefix: "out/" },
          destination,
          deleteMarkerReplication: { status: "Enabled" },
        },
      ],
    },
  });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await stateOf(kept, object)).toEqual({
    Role: role,
    Rules: [
      {
        ID: "a",
        Priority: 0,
        Status: "Enabled",
        Filter: {
          And: {
            Prefix: "in/",
            Tags: [
              { Key: "a", Value: "1" },
              { Key: "b", Value: "2" },
            ],
          },
        },
        SourceSelectionCriteria: {
          SseKmsEncryptedObjects: { Status: "Enabled" },
          ReplicaModifications: { Status: "Disabled" },
        },
        Destination: {
          Bucket: "arn:aws:s3:::copies",
          EncryptionConfiguration: { ReplicaKmsKeyID: "key" },
        },
        DeleteMarkerReplication: { Status: "Disabled" },
      },
      {
        ID: "b",
        Priority: 1,
        Status: "Enabled",
        Filter: { Prefix: "out/" },
        Destination: { Bucket: "arn:aws:s3:::copies" },
        DeleteMarkerReplication: { Status: "Enabled" },
      },
    ],
  });
});

const rule = (id: string, fields: string): string =>
  `<Rule><ID>${id}</ID><Status>Enabled</Status>${fields}<Destination><Bucket>arn:aws:s3:::copies</Bucket></Destination></Rule>`;
const all = (by: string, ...rules: string[]): string =>
  `<ReplicationConfiguration><Role>${by}</Role>${rules.join("")}</ReplicationConfiguration>`;
const tagElement = (key: string, value: string): string =>
  `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const everything = "<Filter><Prefix></Prefix></Filter>";
const ours = { id: "a", destination };
const tagged = { ...ours, filter: { and: { tags } } };
const adopting = async (rules: (typeof ours | typeof tagged)[], body: string) => {
  const object = scene.object({ adopt: "IfUnowned", replication: { role, rules } });
  await object.bucket.make();
  const kept = keptInProxy(scene, "BucketReplication");
  kept.body = body;
  return { object, kept };
};

test.each([
  ["no filter", ours, all(role, rule("a", "")), 0],
  ["a filter for all objects", ours, all(role, rule("a", everything)), 0],
  ["the prefix of old clients", ours, all(role, rule("a", "<Prefix></Prefix>")), 0],
  ["another prefix of old clients", ours, all(role, rule("a", "<Prefix>x</Prefix>")), 1],
  ["one condition more", ours, all(role, rule("a", "<Filter><Prefix>x</Prefix></Filter>")), 1],
  [
    "delete markers that the spec does not name",
    ours,
    all(
      role,
      rule("a", `${everything}<DeleteMarkerReplication><Status>Enabled</Status></DeleteMarkerReplication>`),
    ),
    0,
  ],
  [
    "tags in another order",
    tagged,
    all(role, rule("a", `<Filter><And>${tagElement("b", "2")}${tagElement("a", "1")}</And></Filter>`)),
    0,
  ],
  [
    "a tag more",
    tagged,
    all(
      role,
      rule(
        "a",
        `<Filter><And>${tagElement("a", "1")}${tagElement("b", "2")}${tagElement("c", "3")}</And></Filter>`,
      ),
    ),
    1,
  ],
  ["another role", ours, all("arn:aws:iam::123456789012:role/s", rule("a", everything)), 1],
])("an adopted bucket with %s", async (_, item, body, writes) => {
  const { object, kept } = await adopting([item], body);
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes().filter((each) => each === "PutBucketReplication")).toHaveLength(writes);
  expect((await stateOf(kept, object))?.Role).toBe(role);
});

test("rules of others stay as they were, with the role of the spec", async () => {
  const other = "arn:aws:iam::123456789012:role/other";
  const theirs = rule(
    "x",
    `<Priority>7</Priority><Prefix>old/</Prefix><ExistingObjectReplication><Status>Enabled</Status></ExistingObjectReplication>`,
  );
  const { object, kept } = await adopting([ours], all(other, theirs));
  const [before] = (await stateOf(kept, object))?.Rules ?? [];
  expect(before).toMatchObject({ ID: "x", ExistingObjectReplication: { Status: "Enabled" } });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await stateOf(kept, object)).toMatchObject({
    Role: role,
    Rules: [before, { ID: "a", Filter: { Prefix: "" } }],
  });
  object.spec = { ...object.spec, replication: undefined };
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(await stateOf(kept, object)).toEqual({ Role: role, Rules: [before] });
});
