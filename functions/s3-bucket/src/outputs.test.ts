import { startS3 } from "@drover/local-servers";
import { afterAll, describe, expect, test } from "vitest";
import { Bucket } from "./bucket.ts";
import deployedAs from "./function.ts";
import { bucketManifest, openBucketCluster } from "./testing/bucket-cluster.ts";

const server = await startS3();
afterAll(() => server.stop());

const configMap = { apiVersion: "v1", kind: "ConfigMap" };
const secret = { apiVersion: "v1", kind: "Secret" };
const rules = (resource: string) => ({
  apiGroups: [""],
  resources: [resource],
  verbs: ["get", "create", "patch", "delete"],
});
const permitted = {
  ...deployedAs,
  deployment: {
    ...deployedAs.deployment,
    permissions: { cluster: [rules("configmaps"), rules("secrets")] },
  },
};
const open = () => openBucketCluster(server.url, permitted);

describe("spec.outputs", () => {
  test("has the bucket's name, region and address, and is controlled by the object", async () => {
    await using cluster = await open();
    await cluster.apply(bucketManifest("a", { outputs: { name: "a-data" } }));
    await cluster.runUntilIdle();
    const data = {
      bucketName: "default-a",
      region: "us-east-1",
      arn: "arn:aws:s3:::default-a",
      endpoint: expect.stringMatching(/^http/) as string,
    };
    expect(await cluster.get(configMap, "a-data")).toMatchObject({
      metadata: {
        ownerReferences: [{ apiVersion: Bucket.apiVersion, kind: "Bucket", name: "a", controller: true }],
      },
      data,
    });
    expect(await cluster.get(Bucket, "a")).toMatchObject({
      status: { outputs: { kind: "ConfigMap", name: "a-data" } },
    });
  });

  test("is corrected at a poll, and not written if nothing differs", async () => {
    await using cluster = await open();
    await cluster.apply(bucketManifest("b", { outputs: { kind: "Secret", name: "b-data" } }));
    await cluster.runUntilIdle();
    const before = await cluster.get(secret, "b-data");
    expect(before?.["data"]).toMatchObject({ bucketName: Buffer.from("default-b").toString("base64") });
    await cluster.advance("6m");
    expect(await cluster.get(secret, "b-data")).toEqual(before);
    await cluster.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "b-data" },
      stringData: { bucketName: "wrong", mine: "stays" },
    });
    await cluster.advance("6m");
    expect((await cluster.get(secret, "b-data"))?.["data"]).toMatchObject({
      bucketName: Buffer.from("default-b").toString("base64"),
      mine: Buffer.from("stays").toString("base64"),
    });
  });

  test("is deleted when the spec names another object, or none", async () => {
    await using cluster = await open();
    await cluster.apply(bucketManifest("c", { outputs: { name: "c-1" } }));
    await cluster.runUntilIdle();
    await cluster.apply(bucketManifest("c", { outputs: { kind: "Secret", name: "c-1" } }));
    await cluster.runUntilIdle();
    expect(await cluster.get(configMap, "c-1")).toBeUndefined();
    expect(await cluster.get(secret, "c-1")).toBeDefined();
    await cluster.apply(bucketManifest("c", {}));
    await cluster.runUntilIdle();
    expect(await cluster.get(secret, "c-1")).toBeUndefined();
    expect((await cluster.get(Bucket, "c"))?.["status"]).not.toHaveProperty("outputs");
  });

  test("is deleted, too, if a setting changes with it", async () => {
    await using cluster = await open();
    await cluster.apply(bucketManifest("f", { outputs: { name: "f-1" } }));
    await cluster.runUntilIdle();
    await cluster.apply(bucketManifest("f", { outputs: { name: "f-2" }, versioning: "Enabled" }));
    await cluster.runUntilIdle();
    expect(await cluster.get(configMap, "f-1")).toBeUndefined();
    expect(await cluster.get(configMap, "f-2")).toBeDefined();
  });

  test("never changes or deletes an object of others", async () => {
    await using cluster = await open();
    const theirs = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "theirs" },
      stringData: { bucketName: "x" },
    };
    await cluster.apply(theirs);
    const before = await cluster.get(secret, "theirs");
    await cluster.apply(bucketManifest("d", { outputs: { kind: "Secret", name: "theirs" } }));
    await cluster.runUntilIdle();
    expect(await cluster.get(Bucket, "d")).toMatchObject({
      status: {
        bucketName: "default-d",
        conditions: [{ type: "Ready", status: "False", reason: "OutputsNotOwned" }, {}, {}],
      },
    });
    await cluster.apply(bucketManifest("d", {}));
    await cluster.runUntilIdle();
    expect(await cluster.get(secret, "theirs")).toEqual(before);
  });

  test("never deletes an object of others that has the name of one it had written", async () => {
    await using cluster = await open();
    await cluster.apply(bucketManifest("e", { outputs: { name: "e-data" } }));
    await cluster.runUntilIdle();
    await cluster.delete(configMap, "e-data");
    await cluster.apply({ ...configMap, metadata: { name: "e-data" }, data: { mine: "stays" } });
    const before = await cluster.get(configMap, "e-data");
    await cluster.apply(bucketManifest("e", {}));
    await cluster.runUntilIdle();
    expect(await cluster.get(configMap, "e-data")).toEqual(before);
  });
});
