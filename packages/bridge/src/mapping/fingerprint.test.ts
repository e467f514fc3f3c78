import type { ObjectMetadata } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { fingerprint } from "./subscription.ts";

const owner = { apiVersion: "v1", kind: "Owner", name: "p", uid: "p" };
const metadata: ObjectMetadata = {
  name: "a",
  namespace: "ns",
  uid: "u",
  resourceVersion: "7",
  generation: 1,
  labels: { a: "1", b: "2" },
  annotations: { c: "3" },
  finalizers: ["f"],
  ownerReferences: [{ ...owner, controller: true }],
};
const changed = (more: Partial<ObjectMetadata>) => fingerprint({ ...metadata, ...more });

describe("a fingerprint", () => {
  test("is short", () => {
    expect(fingerprint(metadata)).toMatch(/^[\w-]{16}$/);
  });

  test.each<[string, Partial<ObjectMetadata>]>([
    ["a change of only the status, which is a new version", { resourceVersion: "8" }],
    ["the order of labels", { labels: { b: "2", a: "1" } }],
    [
      "an annotation of kubectl",
      { annotations: { c: "3", "kubectl.kubernetes.io/last-applied-configuration": "{}" } },
    ],
  ])("is not changed by %s", (_name, more) => {
    expect(changed(more)).toBe(fingerprint(metadata));
  });

  test.each<[string, Partial<ObjectMetadata>]>([
    ["uid", { uid: "v" }],
    ["generation", { generation: 2 }],
    ["label", { labels: { a: "1", b: "3" } }],
    ["annotation", { annotations: {} }],
    ["finalizer", { finalizers: [] }],
    ["owner", { ownerReferences: [{ apiVersion: "v1", kind: "Owner", name: "o", uid: "o" }] }],
    ["controlling owner", { ownerReferences: [{ ...owner, controller: false }] }],
    ["deletion", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
  ])("changes with the %s", (_name, more) => {
    expect(changed(more)).not.toBe(fingerprint(metadata));
  });

  test("changes with every version of a kind without generation", () => {
    const secret: ObjectMetadata = { name: "a", namespace: "ns", uid: "u", resourceVersion: "7" };
    expect(fingerprint({ ...secret, resourceVersion: "8" })).not.toBe(fingerprint(secret));
  });
});
