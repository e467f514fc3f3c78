import { expect, test } from "vitest";
import { readyOf } from "../../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";

const scene = await bucketSceneOfFile();

// As on AWS: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAccelerateConfiguration.html
test("A bucket that was never accelerated has no status, and counts as suspended", async () => {
  const object = scene.object({ accelerate: { status: "Suspended" } });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).not.toContain("PutBucketAccelerateConfiguration");
  object.spec = { ...object.spec, accelerate: { status: "Enabled" } };
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).toContain("PutBucketAccelerateConfiguration");
});

test("A bucket whose name has a dot cannot be accelerated: an invalid setting", async () => {
  const bucketName = `with.dots-${Date.now()}`;
  const result = await scene.object({ bucketName, accelerate: { status: "Enabled" } }).reconcileUntilStable();
  expect(readyOf(result)).toMatchObject({ reason: "InvalidSetting" });
  expect(readyOf(result)?.message).toContain("Correct spec.accelerate.");
});
