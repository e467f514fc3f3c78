import type { OwnerReference } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { parseFieldPath } from "@drover/controller";
import { kubeObjectSchema } from "@drover/kube";
import { keysFor, type Mapping } from "./mapping.ts";
import { bucketRef } from "../../../kube/src/testing/objects.ts";

const cluster = { ...bucketRef, namespaced: false };
const pod = (metadata: object = {}, more: object = {}) =>
  kubeObjectSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u", resourceVersion: "1", namespace: "ns", ...metadata },
    ...more,
  });
const keys = (object: ReturnType<typeof pod>, map: Mapping, target = bucketRef) =>
  keysFor(object, { for: target, map });

test("an object of the controller's own kind maps to its own key", () => {
  expect(keys(pod(), { by: "self" })).toEqual(["ns/p"]);
});

test("a child without an owner maps to the parent that its annotation names, in its own namespace", () => {
  const child = (parent: string, more: object = {}) =>
    keys(pod({ annotations: { "drover.dev/parent": parent }, ...more }), { by: "owner" });
  expect(child("Bucket.s3.example.com/a")).toEqual(["ns/a"]);
  for (const other of [
    "Bucket.example.com/a",
    "Basket.s3.example.com/a",
    "Bucket.s3.example.com/",
    "a",
    "Bucket.s3.example.com/other/a",
  ])
    expect(child(other)).toEqual([]);
  const parent = { "drover.dev/parent": "Bucket.s3.example.com/a" };
  expect(keys(pod({ annotations: parent }), { by: "owner" }, cluster)).toEqual(["a"]);
  const owner = { apiVersion: "s3.example.com/v1", kind: "Bucket", name: "a", uid: "u", controller: true };
  expect(child("Bucket.s3.example.com/a", { ownerReferences: [owner] })).toEqual(["ns/a"]);
});

test("a child maps to a parent in another namespace only if the function allows that", () => {
  const annotations = { "drover.dev/parent": "Bucket.s3.example.com/other/a" };
  const across = { by: "owner", acrossNamespaces: true } as const;
  expect(keys(pod({ annotations }), { by: "owner" })).toEqual([]);
  expect(keys(pod({ annotations }), across)).toEqual(["other/a"]);
  const search = { for: bucketRef, map: across };
  expect(keysFor(pod({ annotations }), { ...search, keysIn: ["ns"] })).toEqual([]);
  expect(keysFor(pod({ annotations }), { ...search, keysIn: ["ns", "other"] })).toEqual(["other/a"]);
  // An object without a namespace is written by administrators only.
  const { namespace: _, ...metadata } = pod({ annotations }).metadata;
  expect(keys({ ...pod(), metadata }, { by: "owner" })).toEqual(["other/a"]);
  const nameless = { ...metadata, annotations: { "drover.dev/parent": "Bucket.s3.example.com/a" } };
  expect(keys({ ...pod(), metadata: nameless }, { by: "owner" })).toEqual([]);
});

describe("an object with owners", () => {
  const reference = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
    apiVersion: "s3.example.com/v1",
    kind: "Bucket",
    name,
    uid: `uid-${name}`,
    controller: true,
    ...more,
  });
  const owned = (...ownerReferences: readonly OwnerReference[]) => pod({ ownerReferences });

  test("maps to its controller owner, in its own namespace", () => {
    expect(keys(owned(reference("a"), reference("b", { controller: false })), { by: "owner" })).toEqual([
      "ns/a",
    ]);
  });

  test("maps to a cluster-scoped owner without a namespace", () => {
    expect(keys(owned(reference("a")), { by: "owner" }, cluster)).toEqual(["a"]);
  });

  test("maps to its owner for any API version in the reference", () => {
    const older = reference("a", { apiVersion: "s3.example.com/v1beta1" });
    expect(keys(owned(older), { by: "owner" })).toEqual(["ns/a"]);
  });

  test.each<[string, Partial<OwnerReference>]>([
    ["does not control it", { controller: false }],
    ["is of another kind", { kind: "Basket" }],
    ["is of another group", { apiVersion: "example.com/v1" }],
    ["is of the core group", { apiVersion: "v1" }],
    ["has a name that no object can have", { name: "../../kube-system/a" }],
  ])("does not map to an owner that %s", (_name, more) => {
    expect(keys(owned(reference("a", more)), { by: "owner" })).toEqual([]);
  });
});

describe("a value that names an object", () => {
  const spec = { refs: [{ name: "a" }, { name: "b" }, { name: "a" }, {}, { name: 7 }], one: "x/y" };
  const named = pod({ labels: { for: "a" }, annotations: { for: "ns/b" } }, { spec });

  test("may be in a label, an annotation or a field, more than once", () => {
    expect(keys(named, { by: "label", name: "for" })).toEqual(["ns/a"]);
    expect(keys(named, { by: "annotation", name: "for" })).toEqual(["ns/b"]);
    expect(keys(named, { by: "field", path: parseFieldPath("spec.refs[].name") })).toEqual(["ns/a", "ns/b"]);
    expect(keys(named, { by: "label", name: "toString" })).toEqual([]);
  });

  test("may leave its own namespace empty", () => {
    const refs = Object.entries({ a: "", b: null }).map(([name, namespace]) => ({ name, namespace }));
    const object = pod({}, { spec: { refs } });
    expect(keys(object, { by: "field", path: parseFieldPath("spec.refs[]") })).toEqual(["ns/a", "ns/b"]);
  });

  test("may name another namespace, or a cluster-scoped object, only if that is granted", () => {
    const elsewhere: Mapping = { by: "field", path: parseFieldPath("spec.one") };
    expect(keys(named, elsewhere)).toEqual([]);
    expect(keys(named, { ...elsewhere, acrossNamespaces: true })).toEqual(["x/y"]);
    expect(keys(named, { by: "label", name: "for" }, cluster)).toEqual([]);
    expect(keys(named, { by: "label", name: "for", acrossNamespaces: true }, cluster)).toEqual(["a"]);
  });

  test("of a cluster-scoped object may name any namespace", () => {
    const ofCluster = pod({ namespace: null, labels: { for: "a" } }, { spec });
    expect(keys(ofCluster, { by: "field", path: parseFieldPath("spec.one") })).toEqual(["x/y"]);
    expect(keys(ofCluster, { by: "label", name: "for" })).toEqual([]);
    expect(keys(ofCluster, { by: "label", name: "for" }, cluster)).toEqual(["a"]);
  });
});
