import { describe, expect, test } from "vitest";
import { parseFieldPath } from "@drover/controller";
import { indexEntriesOf, isMatchingEntry, lookupTermsOf } from "./index-entries.ts";
import { kubeObjectSchema } from "@drover/kube";
import type { IndexMapping, Within } from "./mapping.ts";
import { bucketRef } from "../../../kube/src/testing/objects.ts";

const pod = (metadata: object = {}, spec: object = {}) =>
  kubeObjectSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    spec,
    metadata: { name: "p", uid: "u", resourceVersion: "1", namespace: "ns", ...metadata },
  });
const path = parseFieldPath("spec.at");

describe("an object that references others", () => {
  const references: IndexMapping = { by: "references", path: parseFieldPath("spec.at[]"), to: bucketRef };
  const terms = (spec: object, metadata: object = {}, filing = references) =>
    indexEntriesOf(pod(metadata, spec), filing).map(({ term }) => term);

  test("has entries under their keys, in any namespace", () => {
    const at = ["a", "other/b", { name: "c" }, { name: "d", namespace: "other" }, "a", "../x", 7, {}];
    expect(terms({ at })).toEqual(["ns/a", "other/b", "ns/c", "other/d"]);
    expect(terms({ at }, { namespace: null })).toEqual(["other/b", "other/d"]);
  });

  test("has entries under the names of cluster-scoped objects", () => {
    const filing = { ...references, to: { ...bucketRef, namespaced: false } };
    expect(terms({ at: ["a", { name: "b" }] }, {}, filing)).toEqual(["a", "b"]);
  });

  test("is found by the keys of these objects", () => {
    expect(lookupTermsOf(pod(), { by: "referencedBy" })).toEqual(["ns/p"]);
  });
});

describe("an object that selects others", () => {
  /** True if the index entries of a selector match an object with these labels in this namespace. */
  const finds = (selector: unknown, labels: object, { within = "namespace", namespace = "ns" } = {}) => {
    const reach: Within = within === "cluster" ? "cluster" : "namespace";
    const filed = indexEntriesOf(pod({}, { at: selector }), { by: "selects", path, within: reach });
    const sought = lookupTermsOf(pod({ labels, namespace }), { by: "selectedBy", within: reach });
    return filed.some(({ term, note }) => sought.includes(term) && isMatchingEntry(sought, note));
  };

  test.each<[string, unknown]>([
    ["a label that it has", { matchLabels: { a: "1" } }],
    ["several", { matchLabels: { b: "2", a: "1" } }],
    ["labels as a Service has them", { a: "1", b: "2" }],
    ["one of several values", { matchExpressions: [{ key: "a", operator: "In", values: ["0", "1"] }] }],
    [
      "the absence of the excluded values",
      { matchExpressions: [{ key: "a", operator: "NotIn", values: ["0"] }] },
    ],
    ["the existence of a label", { matchExpressions: [{ key: "a", operator: "Exists" }] }],
    ["the absence of a label", { matchExpressions: [{ key: "c", operator: "DoesNotExist" }] }],
    ["nothing at all", {}],
  ])("finds one by %s", (_what, selector) => {
    expect(finds(selector, { a: "1", b: "2" })).toBe(true);
  });

  test.each<[string, unknown]>([
    ["one label of two", { matchLabels: { a: "1", b: "0" } }],
    ["none of the values", { matchExpressions: [{ key: "a", operator: "In", values: ["0"] }] }],
    ["one label of a Service's two", { a: "1", b: "3" }],
    ["an excluded value", { matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] }],
    ["a value that is not a selector", "a=1"],
    ["a selector with an unknown operator", { matchExpressions: [{ key: "a", operator: "Has" }] }],
  ])("does not find one by %s", (_what, selector) => {
    expect(finds(selector, { a: "1", b: "2" })).toBe(false);
  });

  test("finds objects of another namespace only if that is granted", () => {
    const selector = { matchLabels: { a: "1" } };
    expect(finds(selector, { a: "1" }, { namespace: "other" })).toBe(false);
    expect(finds(selector, { a: "1" }, { namespace: "other", within: "cluster" })).toBe(true);
  });
});

test("an object that holds values has entries under those that are valid terms", () => {
  const holds: IndexMapping = { by: "holds", path: parseFieldPath("spec.at[]") };
  const at = ["a", 7, 2n ** 53n + 1n, "", "a", "x".repeat(2_000), "\0", true, { a: 1 }];
  expect(indexEntriesOf(pod({}, { at }), holds)).toEqual(
    ["a", "7", "9007199254740993"].map((term) => ({ term, note: "" })),
  );
});

test("all objects are those of the namespace, or of the cluster", () => {
  const finds = (within: Within, namespace: string): boolean => {
    const filed = indexEntriesOf(pod({ namespace }), { by: "presence", within });
    const sought = lookupTermsOf(pod(), { by: "all", within });
    return filed.some(({ term, note }) => sought.includes(term) && isMatchingEntry(sought, note));
  };
  expect(["ns", "other"].map((one) => finds("namespace", one))).toEqual([true, false]);
  expect(["ns", "other"].map((one) => finds("cluster", one))).toEqual([true, true]);
});

test("an unreadable note matches every object", () => {
  expect(isMatchingEntry(["ns|a=1"], "{")).toBe(true);
});
