import { objectKey } from "@drover/controller";
import { afterEach, describe, expect, test } from "vitest";
import type { KubeClient, NewObject } from "./client.ts";
import { keyOf } from "../objects/kube-object.ts";
import { builtin } from "../objects/resource-ref.ts";
import { bucketRef } from "../testing/objects.ts";
import type { WatchFrame } from "./watch-frames.ts";

const key = objectKey({ namespace: "default", name: "a" });
export const namedBucket = (name: string, more: object = {}): NewObject => ({
  metadata: { name, namespace: "default" },
  spec: { region: "eu" },
  ...more,
});

/** The promises of a client of an API server that serves buckets and has none. Each test deletes its buckets. */
export function clientContract(client: () => KubeClient): void {
  afterEach(async () => {
    for (const one of (await client().list(bucketRef)).items) await client().delete(bucketRef, keyOf(one));
  });

  describe("an object's life", () => {
    test("is created, read, patched, replaced and deleted", async () => {
      expect(await client().get(bucketRef, key)).toBeUndefined();
      const created = await client().create(bucketRef, namedBucket("a"));
      expect(created.metadata.generation).toBe(1);

      const patched = await client().patch(bucketRef, key, {
        type: "merge",
        body: { spec: { region: "us" } },
      });
      expect(patched.metadata.generation).toBe(2);
      const tested = { op: "test", path: "/spec/region", value: "us" } as const;
      const { resourceVersion } = await client()
        .patch(bucketRef, key, {
          type: "json",
          body: [tested, { op: "replace", path: "/spec/region", value: "ap" }],
        })
        .then(({ metadata }) => metadata);

      await client().replace(bucketRef, {
        ...namedBucket("a"),
        metadata: { name: "a", namespace: "default", resourceVersion },
      });
      expect((await client().get(bucketRef, key))?.["spec"]).toEqual({ region: "eu" });
      const { metadata } = (await client().get(bucketRef, key)) ?? expect.fail("The object is gone.");
      expect(await client().delete(bucketRef, key, { uid: metadata.uid })).toBe(true);
      expect(await client().delete(bucketRef, key)).toBe(false);
    });

    test("its status is written separately, without a new generation", async () => {
      await client().create(bucketRef, namedBucket("a"));
      const body = { status: { arn: "arn:a" }, spec: { region: "ignored" } };
      const written = await client().patch(
        bucketRef,
        key,
        { type: "merge", body },
        { subresource: "status" },
      );
      expect(written).toMatchObject({
        status: { arn: "arn:a" },
        spec: { region: "eu" },
        metadata: { generation: 1 },
      });
    });
  });

  /** @param kind of the API error that the call rejects with. */
  const refused = (call: Promise<unknown>, kind: string) => expect(call).rejects.toMatchObject({ kind });

  describe("a refusal has its kind", () => {
    test("for an object that exists and is created", async () => {
      await client().create(bucketRef, namedBucket("a"));
      await refused(client().create(bucketRef, namedBucket("a")), "AlreadyExists");
    });

    test("for a change or deletion of an older version, or of another uid", async () => {
      const { resourceVersion } = (await client().create(bucketRef, namedBucket("a"))).metadata;
      await client().patch(bucketRef, key, { type: "merge", body: { spec: { region: "us" } } });
      const body = { metadata: { resourceVersion }, spec: { region: "ap" } };
      await refused(client().patch(bucketRef, key, { type: "merge", body }), "Conflict");
      await refused(client().delete(bucketRef, key, { resourceVersion }), "Conflict");
      await refused(client().delete(bucketRef, key, { uid: "another" }), "Conflict");
    });

    test("for a patch of an absent object, and an invalid spec", async () => {
      const patch = client().patch(bucketRef, key, { type: "merge", body: {} });
      await refused(patch, "NotFound");
      const wrong = client().create(bucketRef, namedBucket("a", { spec: { region: 1 } }));
      await refused(wrong, "Invalid");
    });

    test("for a kind that is not served, and a missing namespace", async () => {
      const unknown = { ...bucketRef, plural: "baskets", kind: "Basket" };
      await refused(client().get(unknown, key), "NotServed");
      await refused(client().list({ ...bucketRef, group: "unknown.example.com" }), "NotServed");
      expect(await client().isServed({ ...bucketRef, version: "v9" })).toBe(true);
      expect(await client().isServed(builtin.configMap)).toBe(true);
      expect(await client().isServed({ ...bucketRef, plural: "absents" })).toBe(false);
      expect(await client().isServed({ ...bucketRef, group: "unknown.example.com" })).toBe(false);
      const nowhere = client().create(builtin.secret, { metadata: { name: "s", namespace: "nowhere" } });
      await refused(nowhere, "NotFound");
    });
  });

  describe("a list", () => {
    test("has pages of one version, with only metadata if that is requested", async () => {
      for (const name of ["a", "b", "c"]) await client().create(bucketRef, namedBucket(name));
      const first = await client().list(bucketRef, { limit: 2, metadataOnly: true });
      expect(first.items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
      expect(first.items[0]).toMatchObject({ kind: "Bucket", apiVersion: "s3.example.com/v1" });
      expect(first.items[0]).not.toHaveProperty("spec");
      const second = await client().list(bucketRef, { limit: 2, continue: first.continue });
      expect(second).toMatchObject({ resourceVersion: first.resourceVersion, continue: undefined });
      expect(second.items[0]).toMatchObject({ metadata: { name: "c" }, spec: { region: "eu" } });
    });

    test("of a built-in kind sets the kind of its items", async () => {
      const { items } = await client().list(builtin.namespace);
      expect(items[0]).toMatchObject({ kind: "Namespace", apiVersion: "v1" });
    });
  });

  describe("a watch", () => {
    test("emits the changes after a version, and ends when its reader stops", async () => {
      const { resourceVersion } = await client().list(bucketRef);
      await client().create(bucketRef, namedBucket("a"));
      await client().delete(bucketRef, key);
      const frames: WatchFrame[] = [];
      for await (const piece of client().watch(bucketRef, { resourceVersion, metadataOnly: true })) {
        frames.push(...piece);
        if (frames.at(-1)?.type === "DELETED") break;
      }
      expect(frames.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
    });
  });
}
