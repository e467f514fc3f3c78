import { objectKey, type ObjectMetadata, type OwnerReference } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { fingerprint } from "./fingerprint.ts";
import { keysOf, type Subscription } from "./keys-of.ts";
import { bucket } from "./testing/objects.ts";

const pods = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const reference = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: "s3.example.com/v1", kind: "Bucket", name, uid: `uid-${name}`, controller: true },
  ...more,
});
const object = (...ownerReferences: readonly OwnerReference[]): ObjectMetadata => ({
  ...{ name: "p", namespace: "ns", uid: "u", resourceVersion: "1" },
  ownerReferences,
});
const event = (now: ObjectMetadata, before?: ObjectMetadata) => {
  const key = objectKey({ namespace: "ns", name: "p" });
  const previous = before && { key, object: before, fingerprint: fingerprint(before) };
  return { key, object: now, ...(previous === undefined ? {} : { previous }) };
};

test("an object of the controller's own kind names itself", () => {
  expect(keysOf(event(object()), { map: "for", ref: pods })).toEqual(["ns/p"]);
});

describe("an object with owners", () => {
  const owned: Subscription = { map: "owner", ref: pods, owner: bucket };

  test("names the one that controls it, in its own namespace", () => {
    expect(keysOf(event(object(reference("a"))), owned)).toEqual(["ns/a"]);
  });

  test("names a cluster-scoped owner without a namespace", () => {
    const owner = { ...bucket, namespaced: false };
    expect(keysOf(event(object(reference("a"))), { ...owned, owner })).toEqual(["a"]);
  });

  test("names its owner whatever version of the kind the reference was written with", () => {
    expect(keysOf(event(object(reference("a", { apiVersion: "s3.example.com/v1beta1" }))), owned)).toEqual([
      "ns/a",
    ]);
  });

  test.each<[string, Partial<OwnerReference>]>([
    ["does not control it", { controller: false }],
    ["is of another kind", { kind: "Basket" }],
    ["is of another group", { apiVersion: "example.com/v1" }],
    ["is of the core group", { apiVersion: "v1" }],
    ["has a name that no object can have", { name: "../../kube-system/a" }],
  ])("does not name one that %s", (_name, more) => {
    expect(keysOf(event(object(reference("a", more))), owned)).toEqual([]);
  });

  test("that changed hands names both owners, and an unchanged one once", () => {
    expect(keysOf(event(object(reference("b")), object(reference("a"))), owned)).toEqual(["ns/b", "ns/a"]);
    expect(keysOf(event(object(reference("a")), object(reference("a"))), owned)).toEqual(["ns/a"]);
  });
});
