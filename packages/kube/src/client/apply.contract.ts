import { objectKey } from "@drover/controller";
import { afterEach, describe, expect, test } from "vitest";
import type { KubeClient, NewObject } from "./client.ts";
import { fieldConflicts } from "../field-conflicts.ts";
import { managedFieldsOf } from "../objects/managed-fields.ts";
import { controllerReference, OwnershipError } from "../objects/controller-of.ts";
import { keyOf } from "../objects/kube-object.ts";
import { builtin } from "../objects/resource-ref.ts";
import { bucketRef } from "../testing/objects.ts";

const key = objectKey({ namespace: "default", name: "applied" });
const metadata = { name: "applied", namespace: "default" };
const ofData = (data: Readonly<Record<string, string>>): NewObject => ({ metadata, data });
const free = { beforeWrite: () => undefined };
const kind = builtin.configMap;

/** Server-side apply, for an API server that serves the buckets of `objects.ts`. */
export function applyContract(client: () => KubeClient): void {
  const as = (fieldManager: string): KubeClient => client().guarded({ ...free, fieldManager });
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => expect.fail("It was accepted."),
      (error: unknown) => error,
    );
  afterEach(async () => {
    await client().delete(kind, key);
    await client().delete(bucketRef, key);
  });

  describe("an apply", () => {
    test("creates an object, and changes and removes only what its manager has set", async () => {
      const made = await as("one").apply(kind, ofData({ a: "1", b: "1" }));
      await client().patch(kind, key, { type: "merge", body: { data: { others: "o" } } });
      const changed = await as("one").apply(kind, ofData({ a: "2" }));
      expect(changed).toMatchObject({ metadata: { uid: made.metadata.uid } });
      expect(changed["data"]).toEqual({ a: "2", others: "o" });
    });

    test("that changes nothing leaves the version", async () => {
      const { resourceVersion } = (await as("one").apply(kind, ofData({ a: "1" }))).metadata;
      const again = await as("one").apply(kind, ofData({ a: "1" }));
      expect(again.metadata.resourceVersion).toBe(resourceVersion);
    });

    test("leaves a field that it no longer has to the other manager that has set it, too", async () => {
      await as("one").apply(kind, ofData({ a: "1" }));
      await as("two").apply(kind, ofData({ a: "1", b: "2" }));
      const left = await as("one").apply(kind, { metadata });
      expect(left["data"]).toEqual({ a: "1", b: "2" });
      const gone = await as("two").apply(kind, ofData({ b: "2" }));
      expect(gone["data"]).toEqual({ b: "2" });
    });

    test.each(["secret text", 17.5, ["secret text"], { part: "secret text" }])(
      "of a wrong type is refused, without the value %j: it may be that of a Secret",
      async (value) => {
        const wrong = { metadata, ...(typeof value === "string" ? { data: value } : { data: { a: value } }) };
        const error = await failure(as("one").apply(builtin.secret, wrong));
        expect(error).toMatchObject({
          message: expect.stringContaining("a value of another type") as string,
        });
        expect(JSON.stringify(error) + String(error)).not.toMatch(/secret text|17\.5/);
      },
    );

    test("is refused for a field that another manager has set, which the error names", async () => {
      await as("one").apply(kind, ofData({ a: "1", b: "1", same: "s" }));
      await as("two words").apply(kind, ofData({ a: "2" }), { force: true });
      await client().patch(kind, key, { type: "merge", body: { data: { b: "3" } } });
      const error = await failure(as("one").apply(kind, ofData({ a: "1", b: "1", same: "s" })));
      expect(fieldConflicts(error)).toEqual([
        { manager: "two words", field: ".data.a" },
        { manager: "drover", field: ".data.b" },
      ]);
      expect((await client().get(kind, key))?.["data"]).toEqual({ a: "2", b: "3", same: "s" });
    });

    test("takes such a field with force", async () => {
      await as("one").apply(kind, ofData({ a: "1" }));
      const taken = await as("two").apply(kind, ofData({ a: "2" }), { force: true });
      expect(taken["data"]).toEqual({ a: "2" });
      const fieldsOf = (manager: string) =>
        managedFieldsOf(taken).find((entry) => entry.manager === manager)?.fields;
      expect(fieldsOf("one")?.has(".data.a")).not.toBe(true);
      expect(fieldsOf("two")?.has(".data.a")).toBe(true);
    });

    test("is refused for another uid, and for an older version", async () => {
      const { uid, resourceVersion } = (await as("one").apply(kind, ofData({ a: "1" }))).metadata;
      await as("one").apply(kind, ofData({ a: "2" }));
      const wrong = [
        { ...metadata, uid: "00000000-0000-0000-0000-000000000000" },
        { ...metadata, resourceVersion },
      ];
      for (const each of wrong) {
        const error = await failure(as("one").apply(kind, { metadata: each, data: { a: "3" } }));
        expect(error).toMatchObject({ kind: "Conflict" });
        expect(fieldConflicts(error)).toEqual([]);
      }
      await client().delete(kind, key);
      const gone = await failure(as("one").apply(kind, { metadata: { ...metadata, uid }, data: {} }));
      expect(gone).toMatchObject({ kind: "Conflict" });
    });

    test("of the version 1, which no object has, only creates", async () => {
      const first = { ...metadata, resourceVersion: "1" };
      const made = await as("one").apply(kind, { metadata: first, data: { a: "1" } });
      expect(made).toMatchObject({ data: { a: "1" } });
      expect(made.metadata.resourceVersion).not.toBe("1");
      for (const force of [true, false]) {
        const error = await failure(as("one").apply(kind, { metadata: first, data: { a: "2" } }, { force }));
        expect(error).toMatchObject({ kind: "Conflict" });
        expect(fieldConflicts(error)).toEqual([]);
      }
      expect(await client().get(kind, key)).toEqual(made);
      expect(await as("one").apply(bucketRef, { metadata: first, spec: { region: "eu" } })).toMatchObject({
        spec: { region: "eu" },
      });
    });

    test("writes the status separately", async () => {
      await as("one").apply(bucketRef, { metadata, spec: { region: "eu" } });
      const body = { metadata, status: { arn: "arn:a" }, spec: { region: "ignored" } };
      const written = await as("one").apply(bucketRef, body, { subresource: "status" });
      expect(written).toMatchObject({ spec: { region: "eu" }, status: { arn: "arn:a" } });
      const [object, status] = ["", "status"].map((subresource) =>
        managedFieldsOf(written).find((entry) => entry.subresource === subresource),
      );
      expect([...(object?.fields ?? [])]).toEqual([".spec.region"]);
      expect([...(status?.fields ?? [])]).toEqual([".status.arn"]);
    });
  });

  describe("a dry run", () => {
    test("returns the result of a write, and stores nothing", async () => {
      const applied = await as("one").apply(kind, ofData({ a: "1" }), { dryRun: true });
      expect(applied).toMatchObject({ data: { a: "1" } });
      const made = await client().create(kind, ofData({ a: "1" }), { dryRun: true });
      expect(made).toMatchObject({ metadata: { resourceVersion: "0" }, data: { a: "1" } });
      expect(await client().get(kind, key)).toBeUndefined();

      const { metadata: stored } = await client().create(kind, ofData({ a: "1" }));
      const patch = { type: "merge", body: { data: { a: "2" } } } as const;
      expect(await client().patch(kind, key, patch, { dryRun: true })).toMatchObject({ data: { a: "2" } });
      const other = { ...ofData({ a: "3" }), metadata: stored };
      expect(await client().replace(kind, other, { dryRun: true })).toMatchObject({ data: { a: "3" } });
      expect(await client().delete(kind, key, { dryRun: true })).toBe(true);
      expect((await client().get(kind, key))?.metadata).toEqual(stored);
    });

    test("reports the conflicts of an apply", async () => {
      await as("one").apply(kind, ofData({ a: "1" }));
      const error = await failure(as("two").apply(kind, ofData({ a: "2" }), { dryRun: true }));
      expect(fieldConflicts(error)).toEqual([{ manager: "one", field: ".data.a" }]);
    });
  });

  describe("an owned object", () => {
    test("has a controller reference to the object of the run, besides its other owners", async () => {
      const bucket = await client().create(bucketRef, { metadata, spec: { region: "eu" } });
      const reference = controllerReference({ ref: bucketRef, metadata: bucket.metadata });
      const other = { apiVersion: "v1", kind: "Secret", name: "other", uid: "uid-of-other" };
      const run = client().guarded({ ...free, owner: { reference, namespace: "default" } });
      const object = { metadata: { ...metadata, ownerReferences: [other] } };
      expect((await run.apply(kind, object, { owned: true })).metadata.ownerReferences).toEqual([
        other,
        reference,
      ]);
      expect((await run.apply(kind, { metadata: { ...metadata } })).metadata.ownerReferences).toBeUndefined();

      const cluster = client().guarded({ ...free, owner: { reference, namespace: undefined } });
      const owned = await cluster.apply(kind, { metadata }, { owned: true });
      expect(owned.metadata.ownerReferences).toEqual([reference]);
    });

    test("is refused without a run, and in another namespace than its owner", async () => {
      const reference = { apiVersion: "v1", kind: "Secret", name: "a", uid: "u" };
      const elsewhere = client().guarded({ ...free, owner: { reference, namespace: "kube-system" } });
      for (const each of [client(), elsewhere]) {
        expect(await failure(each.apply(kind, { metadata }, { owned: true }))).toBeInstanceOf(OwnershipError);
      }
      const namespace = { metadata: { name: "applied" } };
      const call = elsewhere.apply(builtin.namespace, namespace, { owned: true });
      expect(await failure(call)).toBeInstanceOf(OwnershipError);
      expect(await client().get(kind, keyOf({ metadata }))).toBeUndefined();
    });
  });
}
