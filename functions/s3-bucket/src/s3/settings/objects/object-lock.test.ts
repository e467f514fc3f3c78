import { CreateBucketCommand, GetObjectLockConfigurationCommand } from "@aws-sdk/client-s3";
import { TerminalError } from "@drover/controller";
import { expect, test } from "vitest";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { expectOwned, expectRefusal, readyOf } from "../../../testing/bucket-scene.ts";
import { keptInProxy } from "../../../testing/kept-in-proxy.ts";

const scene = await bucketSceneOfFile();
const lockOf = async (Bucket: string) => {
  const answer = await scene.s3.send(new GetObjectLockConfigurationCommand({ Bucket }));
  return answer.ObjectLockConfiguration;
};
const reads = () => scene.proxy.calls.filter(({ operation }) => operation === "GetObjectLockConfiguration");

test("a bucket is created with object lock, and its objects are locked by default", async () => {
  const defaultRetention = { mode: "GOVERNANCE" as const, days: 1 };
  const object = scene.object({
    objectLockEnabledForBucket: true,
    objectLockConfiguration: { rule: { defaultRetention } },
  });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  expect(scene.proxy.writes()).toEqual(["CreateBucket", "PutBucketTagging", "PutObjectLockConfiguration"]);
  expect(await lockOf(object.bucketName)).toMatchObject({
    ObjectLockEnabled: "Enabled",
    Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: 1 } },
  });
  object.spec = { ...object.spec, objectLockEnabledForBucket: undefined };
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
});

test.each([[undefined], [false]])(
  "with %s, a bucket is created without",
  async (objectLockEnabledForBucket) => {
    const object = scene.object({ objectLockEnabledForBucket });
    expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
    const created = scene.proxy.calls.find(({ operation }) => operation === "CreateBucket");
    expect(created?.headers).not.toHaveProperty("x-amz-bucket-object-lock-enabled");
    await expect(lockOf(object.bucketName)).rejects.toThrow("does not exist");
    expect(reads().length > 0).toBe(objectLockEnabledForBucket !== undefined);
  },
);

test.each([
  [true, "was created without object lock"],
  [false, "cannot be disabled"],
])("a bucket that has it otherwise than %s is refused, and not touched", async (asked, problem) => {
  const object = scene.object({
    adopt: "IfUnowned",
    objectLockEnabledForBucket: asked,
    versioning: "Suspended",
  });
  await scene.s3.send(
    new CreateBucketCommand({ Bucket: object.bucketName, ObjectLockEnabledForBucket: !asked }),
  );
  const error = await expectRefusal(object.reconcileUntilStable(), "ObjectLockImmutable");
  expect(error).toBeInstanceOf(TerminalError);
  expect(error.message).toContain(problem);
  expect(scene.proxy.writes()).toEqual([]);
  object.spec = { ...object.spec, objectLockEnabledForBucket: !asked };
  await object.reconcileUntilStable();
  await expectOwned(object);
});

test("a server that ignores the wish for object lock is not ready", async () => {
  const object = scene.object({ objectLockEnabledForBucket: true });
  scene.proxy.faultOn("GetObjectLockConfiguration", {
    status: 404,
    code: "ObjectLockConfigurationNotFoundError",
  });
  await expectRefusal(object.reconcileUntilStable(), "ObjectLockImmutable");
});

test("a server without object lock is refused only if the spec asks for it", async () => {
  const fault = { status: 501, code: "NotImplemented" };
  const without = scene.object({ objectLockEnabledForBucket: false });
  scene.proxy.faultOn("GetObjectLockConfiguration", fault);
  expect(readyOf(await without.reconcileUntilStable())).toBeUndefined();
  const object = scene.object({ objectLockEnabledForBucket: true });
  await expectRefusal(object.reconcileUntilStable(), "NotSupported");
});

test("a lock that cannot be read is waited for", async () => {
  const object = scene.object({ objectLockEnabledForBucket: false });
  scene.proxy.faultOn("GetObjectLockConfiguration", { status: 403, code: "AccessDenied" });
  await expectRefusal(object.reconcileUntilStable(), "AccessDenied");
});

/*
 * The server of the tests does not have event holds:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_DefaultRetention.html
 */
test.each([
  [{ defaultEventHold: { days: 7 } }, { DefaultEventHold: { Days: 7 } }],
  [
    { mode: "COMPLIANCE" as const, years: 1, defaultEventHold: { years: 3 } },
    { Mode: "COMPLIANCE", Years: 1, DefaultEventHold: { Years: 3 } },
  ],
])("event holds are written and kept: %j", async (defaultRetention, state) => {
  const kept = keptInProxy(scene, "ObjectLockConfiguration");
  const object = scene.object({
    versioning: "Enabled",
    objectLockConfiguration: { rule: { defaultRetention } },
  });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  const answer = await kept.s3.send(new GetObjectLockConfigurationCommand({ Bucket: object.bucketName }));
  expect(answer.ObjectLockConfiguration?.Rule?.DefaultRetention).toEqual(state);
});
