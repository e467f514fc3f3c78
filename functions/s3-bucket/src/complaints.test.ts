import {
  CreateBucketCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetObjectLockConfigurationCommand,
  PutBucketEncryptionCommand,
  PutBucketPolicyCommand,
} from "@aws-sdk/client-s3";
import type { Condition } from "@drover/controller";
import type { TestCluster } from "@drover/testing";
import { describe, expect, test } from "vitest";
import { Bucket } from "./bucket.ts";
import { bucketManifest, openBucketCluster } from "./testing/bucket-cluster.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";
import { settingSamples } from "./testing/samples/setting-samples.ts";

/*
 * Complaints of users about other controllers for buckets, and the answer of this one. The test's name is the complaint,
 * a colon, and the answer. The numbers are issues of aws-controllers-k8s/community (ACK) and
 * hashicorp/terraform-provider-aws (Terraform).
 */
const scene = await bucketSceneOfFile();
const { s3, proxy } = scene;

/** A cluster with the function and this object, a minute after the object was applied. */
async function clusterWith(...object: Parameters<typeof bucketManifest>) {
  const cluster = await openBucketCluster(proxy.url);
  await cluster.apply(bucketManifest(...object));
  await cluster.advance("1m");
  return cluster;
}
async function readyIn(cluster: TestCluster, name: string): Promise<Condition | undefined> {
  const status = (await cluster.get(Bucket, name))?.["status"] as { conditions: Condition[] } | undefined;
  return status?.conditions.find(({ type }) => type === "Ready");
}
const isReady = { status: "True", reason: "Reconciled" };
const versioningOf = async (Bucket: string) => (await scene.bucket(Bucket).state())?.versioning;
const lifecycleOf = async (Bucket: string) =>
  (await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules;

/** Expects that the polls of an hour only read. */
async function expectNoWrites(cluster: TestCluster): Promise<void> {
  proxy.calls.length = 0;
  await cluster.advance("1h");
  const looks = proxy.calls.filter(({ operation }) => operation === "HeadBucket");
  expect(looks.length).toBeGreaterThanOrEqual(11);
  expect(proxy.writes()).toEqual([]);
}

// ACK 3041, 1905
test("the next check is hours away, and none can be requested: an annotation requests one at once", async () => {
  const spec = { versioning: "Enabled", pollInterval: "10h" };
  await using cluster = await clusterWith("now", spec);
  await scene.bucket("default-now").setVersioning("Suspended");
  await cluster.advance("9h");
  expect(await versioningOf("default-now")).toBe("Suspended");

  const seen = cluster.announcements.length;
  await cluster.apply(bucketManifest("now", spec, { "drover.dev/reconcile-at": "monday" }));
  await cluster.advance("1s");
  expect(await versioningOf("default-now")).toBe("Enabled");
  expect(cluster.announcements.slice(seen)).toMatchObject([{ reason: "Drifted" }, { reason: "Reconciled" }]);
});

// ACK 1355, 1367, 1288
test("a change by hand stays for ten hours or for ever: the next poll corrects it, by default after 5 minutes", async () => {
  await using cluster = await clusterWith("drift", { versioning: "Enabled" });
  const bucket = scene.bucket("default-drift");
  await bucket.setVersioning("Suspended");
  await cluster.advance("6m");
  expect(await versioningOf("default-drift")).toBe("Enabled");
  await bucket.delete();
  await cluster.advance("6m");
  expect(await versioningOf("default-drift")).toBe("Enabled");
});

// ACK 2098, 1844
describe("an object that failed is never looked at again: every poll does", () => {
  test("and takes the name once it is free", async () => {
    const bucket = scene.bucket("default-failed");
    await bucket.make();
    await using cluster = await clusterWith("failed");
    await cluster.advance("2h");
    expect(await readyIn(cluster, "failed")).toMatchObject({ status: "False", reason: "NotOwned" });
    await bucket.delete();
    await cluster.advance("6m");
    expect(await readyIn(cluster, "failed")).toMatchObject(isReady);
    expect(await bucket.tags()).toMatchObject({ "drover.dev/owner": "default/failed" });
  });

  test("and corrects the settings that do not fail", async () => {
    const lifecycle = { rules: [{ id: "a", expiration: { days: 1 } }] };
    proxy.faultOn("PutBucketLifecycle", { status: 403, code: "AccessDenied" });
    await using cluster = await clusterWith("denied", { versioning: "Enabled", lifecycle });
    expect(await readyIn(cluster, "denied")).toMatchObject({ status: "False", reason: "AccessDenied" });
    await scene.bucket("default-denied").setVersioning("Suspended");
    await cluster.advance("6m");
    expect(await versioningOf("default-denied")).toBe("Enabled");
    expect(await readyIn(cluster, "denied")).toMatchObject({ status: "False", reason: "AccessDenied" });
    proxy.forget();
    await cluster.advance("6m");
    expect(await readyIn(cluster, "denied")).toMatchObject(isReady);
    expect(await lifecycleOf("default-denied")).toMatchObject([{ ID: "a" }]);
  });
});

// ACK 2542, 2357
test("adoption fills the spec with empty blocks, which S3 refuses: the spec and all settings stay as they are", async () => {
  const { withConfigurations } = scene;
  const name = "adopted-with-settings";
  await scene.bucket(name).make();
  for (const { prepare, write } of settingSamples) {
    await prepare?.(withConfigurations);
    await write(withConfigurations, name);
  }
  const settings = () => Promise.all(settingSamples.map(({ read }) => read(withConfigurations, name)));
  const before = await settings();
  expect(before).not.toContain(undefined);
  await using cluster = await clusterWith("adopted", { bucketName: name, adopt: "IfUnowned" });
  expect(await readyIn(cluster, "adopted")).toMatchObject(isReady);
  expect(proxy.writes()).toEqual(["PutBucketTagging"]);
  // Another version of the function.
  cluster.restart();
  await expectNoWrites(cluster);
  expect(await settings()).toEqual(before);
  const spec = (await cluster.get(Bucket, "adopted"))?.["spec"];
  expect(spec).toBeDefined();
  for (const setting of settingSamples) expect(spec).not.toHaveProperty(setting.name);
});

// ACK 2591, 1967
test("a policy is written again and again because of white space: only its meaning is compared", async () => {
  const name = "default-policy";
  const statement = {
    Effect: "Deny",
    Principal: "*",
    Action: "s3:*",
    Resource: [`arn:aws:s3:::${name}/*`, `arn:aws:s3:::${name}`],
    Condition: { Bool: { "aws:SecureTransport": "false" } },
  };
  const policy = `${JSON.stringify({ Version: "2012-10-17", Statement: [statement] }, null, 4)}\n\n`;
  await using cluster = await clusterWith("policy", { policy });
  await expectNoWrites(cluster);
  // The same, as another client would write it.
  const compact = JSON.stringify({ Statement: statement, Version: "2012-10-17" });
  await s3.send(new PutBucketPolicyCommand({ Bucket: name, Policy: compact }));
  await expectNoWrites(cluster);
  expect((await s3.send(new GetBucketPolicyCommand({ Bucket: name }))).Policy).toBe(compact);
  expect(await readyIn(cluster, "policy")).toMatchObject(isReady);
});

// ACK 2870
test.each([
  ["no-encryption", {}],
  ["no-default-block", { encryption: { rules: [{ bucketKeyEnabled: false }] } }],
])("the default encryption of S3 is a difference for ever: it is none (%s)", async (name, spec) => {
  const bucketName = `with-${name}`;
  await scene.bucket(bucketName).make();
  // The state of every new bucket on AWS.
  const byDefault = { SSEAlgorithm: "AES256" as const };
  const encryption = { Rules: [{ ApplyServerSideEncryptionByDefault: byDefault, BucketKeyEnabled: false }] };
  await s3.send(
    new PutBucketEncryptionCommand({ Bucket: bucketName, ServerSideEncryptionConfiguration: encryption }),
  );
  await using cluster = await clusterWith(name, { bucketName, adopt: "IfUnowned", ...spec });
  expect(proxy.writes()).toEqual(["PutBucketTagging"]);
  await expectNoWrites(cluster);
  expect(await readyIn(cluster, name)).toMatchObject(isReady);
  const answer = await s3.send(new GetBucketEncryptionCommand({ Bucket: bucketName }));
  expect(answer.ServerSideEncryptionConfiguration).toEqual(encryption);
});

// ACK 1393, 1533, 1769
test("a bucket with objects cannot be deleted: emptyOnDelete empties it, also when the deletion waits for it", async () => {
  const spec = { onDelete: "Delete", versioning: "Enabled" };
  await using cluster = await clusterWith("full", spec);
  const bucket = scene.bucket("default-full");
  for (const key of ["a", "a", "b"]) await bucket.put(key);
  await bucket.deleteObject("b");
  await cluster.delete(Bucket, "full");
  await cluster.advance("1m");
  const waiting = await readyIn(cluster, "full");
  expect(waiting).toMatchObject({ status: "False", reason: "BucketNotEmpty" });
  expect(waiting?.message).toContain("set spec.emptyOnDelete to true");
  expect(proxy.writes()).not.toContain("DeleteObjects");

  await cluster.apply(bucketManifest("full", { ...spec, emptyOnDelete: true }));
  await cluster.advance("1m");
  expect(await bucket.state()).toBeUndefined();
  expect(await cluster.get(Bucket, "full")).toBeUndefined();
});

// ACK 2965
test("an adopted bucket without object lock is reported as locked: it is not ready, and the message has the way out", async () => {
  const name = "adopted-without-lock";
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  await scene.bucket(name).setVersioning("Enabled");
  const spec = { bucketName: name, adopt: "IfUnowned" };
  await using cluster = await clusterWith("lock", { ...spec, objectLockEnabledForBucket: true });
  const ready = await readyIn(cluster, "lock");
  expect(ready).toMatchObject({ status: "False", reason: "ObjectLockImmutable" });
  expect(ready?.message).toContain("spec.objectLockConfiguration enables object lock on an existing bucket");

  const defaultRetention = { mode: "GOVERNANCE", days: 1 };
  await cluster.apply(
    bucketManifest("lock", { ...spec, objectLockConfiguration: { rule: { defaultRetention } } }),
  );
  await cluster.advance("1m");
  expect(await readyIn(cluster, "lock")).toMatchObject(isReady);
  const { ObjectLockConfiguration } = await s3.send(new GetObjectLockConfigurationCommand({ Bucket: name }));
  expect(ObjectLockConfiguration).toMatchObject({
    ObjectLockEnabled: "Enabled",
    Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: 1 } },
  });
});

// Terraform 49019, 46021, 25939
describe("a lifecycle never converges on MinIO and Ceph, which do not return the least size of objects that are moved", () => {
  const rules = [
    { id: "old", filter: { prefix: "logs/" }, transitions: [{ days: 30, storageClass: "GLACIER" }] },
  ];
  const withoutSize = () => {
    // A changed answer has no header of S3, and the size is one.
    proxy.fault = ({ operation, body }) =>
      operation === "GetBucketLifecycle" ? { asked: body, answered: (reply) => reply } : "none";
  };

  test("if the spec does not name it, it is neither sent nor expected", async () => {
    withoutSize();
    await using cluster = await clusterWith("compatible", { lifecycle: { rules } });
    expect(await readyIn(cluster, "compatible")).toMatchObject(isReady);
    const put = proxy.calls.find(({ operation }) => operation === "PutBucketLifecycle");
    expect(Object.keys(put?.headers ?? {}).filter((name) => name.includes("minimum-object-size"))).toEqual(
      [],
    );
    await expectNoWrites(cluster);
    expect(await lifecycleOf("default-compatible")).toMatchObject([{ ID: "old" }]);
  });

  test("if the spec names it, the run ends, and reports that the server does not keep it", async () => {
    withoutSize();
    const transitionDefaultMinimumObjectSize = "varies_by_storage_class";
    const spec = { lifecycle: { transitionDefaultMinimumObjectSize, rules }, versioning: "Enabled" };
    await using cluster = await clusterWith("named", spec);
    expect(await readyIn(cluster, "named")).toMatchObject({ status: "False", reason: "NotKept" });
    expect(await lifecycleOf("default-named")).toMatchObject([{ ID: "old" }]);
    expect(await versioningOf("default-named")).toBe("Enabled");
  });
});
