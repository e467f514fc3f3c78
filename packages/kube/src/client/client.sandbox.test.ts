import { objectKey } from "@drover/controller";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NewObject } from "./client.ts";
import { installCrd } from "./install-crd.ts";
import { builtin } from "../objects/resource-ref.ts";
import { bucketRef } from "../testing/objects.ts";
import { bucketDefinition, sandboxClient, type SandboxClient } from "../testing/sandbox-client.ts";
import type { WatchFrame } from "./watch-frames.ts";

let api: SandboxClient;
beforeEach(async () => {
  api = await sandboxClient();
  await installCrd(api.client, bucketDefinition);
});
afterEach(() => api[Symbol.asyncDispose]());

const key = objectKey({ namespace: "default", name: "a" });
const named = (name: string, more: object = {}): NewObject => ({
  metadata: { name, namespace: "default" },
  spec: { region: "eu" },
  ...more,
});

describe("an object's life", () => {
  test("created, read, patched, replaced, deleted", async () => {
    const { client } = api;
    expect(await client.get(bucketRef, key)).toBeUndefined();
    const created = await client.create(bucketRef, named("a"));
    expect(created.metadata.generation).toBe(1);

    const patched = await client.patch(bucketRef, key, { type: "merge", body: { spec: { region: "us" } } });
    expect(patched.metadata.generation).toBe(2);
    const tested = { op: "test", path: "/spec/region", value: "us" } as const;
    const { resourceVersion } = await client
      .patch(bucketRef, key, {
        type: "json",
        body: [tested, { op: "replace", path: "/spec/region", value: "ap" }],
      })
      .then(({ metadata }) => metadata);

    await client.replace(bucketRef, {
      ...named("a"),
      metadata: { name: "a", namespace: "default", resourceVersion },
    });
    expect((await client.get(bucketRef, key))?.["spec"]).toEqual({ region: "eu" });
    expect(await client.delete(bucketRef, key)).toBe(true);
    expect(await client.delete(bucketRef, key)).toBe(false);
  });

  test("its status is written beside it, and leaves its generation alone", async () => {
    const { client } = api;
    await client.create(bucketRef, named("a"));
    const body = { status: { arn: "arn:a" }, spec: { region: "ignored" } };
    const written = await client.patch(bucketRef, key, { type: "merge", body }, { subresource: "status" });
    expect(written).toMatchObject({
      status: { arn: "arn:a" },
      spec: { region: "eu" },
      metadata: { generation: 1 },
    });
  });
});

describe("a refusal names its kind", () => {
  test("what exists cannot be created", async () => {
    await api.client.create(bucketRef, named("a"));
    await expect(api.client.create(bucketRef, named("a"))).rejects.toMatchObject({ kind: "AlreadyExists" });
  });

  test("a change of what has changed since is a conflict", async () => {
    const { client } = api;
    const { resourceVersion } = (await client.create(bucketRef, named("a"))).metadata;
    await client.patch(bucketRef, key, { type: "merge", body: { spec: { region: "us" } } });
    const body = { metadata: { resourceVersion }, spec: { region: "ap" } };
    await expect(client.patch(bucketRef, key, { type: "merge", body })).rejects.toMatchObject({
      kind: "Conflict",
    });
    await expect(client.delete(bucketRef, key, { resourceVersion })).rejects.toMatchObject({
      kind: "Conflict",
    });
    await expect(client.delete(bucketRef, key, { uid: "another" })).rejects.toMatchObject({
      kind: "Conflict",
    });
  });

  test("a patch of what is absent, and a spec that the schema refuses", async () => {
    const { client } = api;
    const patch = client.patch(bucketRef, key, { type: "merge", body: {} });
    await expect(patch).rejects.toMatchObject({ kind: "NotFound" });
    const wrong = client.create(bucketRef, named("a", { spec: { region: 1 } }));
    await expect(wrong).rejects.toMatchObject({ kind: "Invalid" });
  });

  test("a kind that is not served, and a namespace that is missing", async () => {
    const { client } = api;
    const unknown = { ...bucketRef, plural: "baskets", kind: "Basket" };
    await expect(client.get(unknown, key)).rejects.toMatchObject({ kind: "NotServed" });
    await expect(client.list({ ...bucketRef, group: "nobody.example.com" })).rejects.toMatchObject({
      kind: "NotServed",
    });
    const nowhere = client.create(builtin.secret, { metadata: { name: "s", namespace: "nowhere" } });
    await expect(nowhere).rejects.toMatchObject({ kind: "NotFound" });
  });
});

describe("a list", () => {
  test("comes in pages of one version, metadata only where that is asked for", async () => {
    const { client } = api;
    for (const name of ["a", "b", "c"]) await client.create(bucketRef, named(name));
    const first = await client.list(bucketRef, { limit: 2, metadataOnly: true });
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect(first.items[0]).toMatchObject({ kind: "Bucket", apiVersion: "s3.example.com/v1" });
    expect(first.items[0]).not.toHaveProperty("spec");
    const second = await client.list(bucketRef, { limit: 2, continue: first.continue });
    expect(second).toMatchObject({ resourceVersion: first.resourceVersion, continue: undefined });
    expect(second.items[0]).toMatchObject({ metadata: { name: "c" }, spec: { region: "eu" } });
  });

  test("of Kubernetes' own kinds gives its items their kind", async () => {
    const { items } = await api.client.list(builtin.namespace);
    expect(items[0]).toMatchObject({ kind: "Namespace", apiVersion: "v1" });
  });

  test("whose token is too old has expired", async () => {
    for (const name of ["a", "b"]) await api.client.create(bucketRef, named(name));
    const first = await api.client.list(bucketRef, { limit: 1 });
    await api.client.create(bucketRef, named("c"));
    api.sandbox.faults.compact();
    const next = api.client.list(bucketRef, { limit: 1, continue: first.continue });
    await expect(next).rejects.toMatchObject({ kind: "Expired" });
  });
});

describe("a watch", () => {
  test("emits the changes after a version, and ends when its reader leaves", async () => {
    const { client } = api;
    const { resourceVersion } = await client.list(bucketRef);
    await client.create(bucketRef, named("a"));
    await client.delete(bucketRef, key);
    const frames: WatchFrame[] = [];
    for await (const piece of client.watch(bucketRef, { resourceVersion, metadataOnly: true })) {
      frames.push(...piece);
      if (frames.at(-1)?.type === "DELETED") break;
    }
    expect(frames.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
  });

  test("from a version that is too old has expired", async () => {
    const { client, sandbox } = api;
    await client.create(bucketRef, named("a"));
    sandbox.faults.compact();
    const firstFrame = async (): Promise<unknown> => {
      for await (const [frame] of client.watch(bucketRef, { resourceVersion: "1" })) {
        return frame?.type === "ERROR" ? frame.error : frame;
      }
      return "nothing";
    };
    // A server says so with its answer, or in the first frame.
    const outcome = await firstFrame().catch((error: unknown) => error);
    expect(outcome).toMatchObject({ kind: "Expired" });
  });
});

test("a definition is installed again over itself", async () => {
  const installed = await installCrd(api.client, {
    ...bucketDefinition,
    metadata: { ...bucketDefinition.metadata, labels: { a: "b" } },
  });
  expect(installed).toEqual(bucketRef);
  const crd = await api.client.get(builtin.crd, objectKey({ name: "buckets.s3.example.com" }));
  expect(crd?.metadata.labels).toEqual({ a: "b" });
});
