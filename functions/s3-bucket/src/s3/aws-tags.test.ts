import { beforeEach, expect, test } from "vitest";
import { maxSpecTags, splitTags, tagLimits, tagProblem } from "@drover/aws";
import { keepAwsTags } from "../testing/aws-tags.ts";
import { expectOwned, expectError, readyOf } from "../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../testing/bucket-scene.fixture.ts";

/* Tags of AWS services on a bucket, such as CloudFormation's: the proxy plays AWS' side, and the server has the others. */
const scene = await bucketSceneOfFile();
const ofAws = { "aws:cloudformation:stack-name": "web", "aws:cloudformation:logical-id": "Bucket" };
beforeEach(() => keepAwsTags(scene.proxy, ofAws));

const adopting = (spec: object = {}) =>
  scene.object({ adopt: "IfUnowned", tags: { team: "north" }, ...spec });

test("a bucket that has them is adopted, tagged beside them, and then only looked at", async () => {
  const object = adopting();
  await object.bucket.make();
  await object.bucket.setTags({ others: "stays" });
  const result = await object.reconcileUntilStable();
  expect(readyOf(result)).toBeUndefined();
  await expectOwned(object, { team: "north", others: "stays" });
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
  await object.reconcileUntilStable();
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
});

test("they do not count: a spec may have as many tags as without them", async () => {
  const tags = Object.fromEntries(Array.from({ length: maxSpecTags }, (_, i) => [`tag-${i}`, "v"]));
  const object = adopting({ tags });
  await object.bucket.make();
  await object.reconcileUntilStable();
  expect(Object.keys(await object.bucket.tags())).toHaveLength(tagLimits.tags);
});

test("a bucket that gets them as it is made, before its owner could be written, is known as the object's", async () => {
  const object = scene.object();
  const { fault } = scene.proxy;
  scene.proxy.fault = (call) => (call.operation === "PutBucketTagging" ? "cut-before" : fault(call));
  await expectError(object.reconcileUntilStable());
  scene.proxy.fault = fault;
  await object.reconcileUntilStable();
  expect(object.status.adopted).toBe(false);
  await expectOwned(object);
});

test("they stay when the bucket is let go of, though no other tag does", async () => {
  const object = adopting({ tags: {} });
  await object.bucket.make();
  await object.reconcileUntilStable();
  scene.proxy.calls.length = 0;
  await object.finalize();
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
  expect(scene.proxy.calls.find(({ operation }) => operation === "PutBucketTagging")?.status).toBeLessThan(
    300,
  );
  expect(await object.bucket.tags()).toEqual({});
});

test("a bucket that has them is deleted", async () => {
  const object = await scene.stableObject({ onDelete: "Delete" });
  await object.finalize();
  expect(await object.bucket.state()).toBeUndefined();
});

test.each([
  ["", "v"],
  ["k".repeat(129), "v"],
  ["k", "v".repeat(257)],
  ["k{}", "v"],
  ["k", "v,w"],
  ["AWS:k", "v"],
  ["drover.dev/owner-uid", "v"],
])("tag %j: %j is refused", (key, value) => {
  expect(tagProblem(key, value)).toBeDefined();
});

test("keys and values as long as S3 takes them are taken, those of AWS in any case are not", () => {
  expect(tagProblem("k".repeat(128), "v".repeat(256))).toBeUndefined();
  expect(tagProblem("k", "")).toBeUndefined();
  const { tags, ofAws } = splitTags([
    ["Aws:x", "1"],
    ["aws:y", "2"],
    ["awsome", "3"],
  ]);
  expect([[...tags.keys()], [...ofAws.keys()]]).toEqual([["awsome"], ["Aws:x", "aws:y"]]);
});

test("letters of any script, blanks and S3's marks are taken", () => {
  expect(tagProblem("größe 1", "a_b.c:d/e=f+g-h@i")).toBeUndefined();
});
