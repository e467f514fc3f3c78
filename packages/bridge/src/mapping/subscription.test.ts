import { describe, expect, test } from "vitest";
import { parseFieldPath } from "./field-path.ts";
import { kubeObjectSchema } from "@drover/kube";
import { isRelevantChange, mappingResultsOf, needsFullObject, type Subscription } from "./subscription.ts";
import { bucketRef, bucketObject } from "../../../kube/src/testing/objects.ts";

const own: Subscription = { id: "own", for: bucketRef, map: { by: "self" } };
const object = (metadata: object = {}, more: object = {}) =>
  kubeObjectSchema.parse({ ...bucketObject("a", { generation: 1, ...metadata }), ...more });
const means = (subscription: Subscription, ...about: Parameters<typeof object>) =>
  mappingResultsOf(object(...about), [subscription])[subscription.id];
const view = (...given: Parameters<typeof means>) => means(...given)?.view;

describe("what matters of an object", () => {
  test("is all but its status to the controller that it is for", () => {
    expect(view(own, { resourceVersion: "2" })).toBe(view(own));
    expect(view(own, { generation: 2 })).not.toBe(view(own));
    expect(view(own, { labels: { a: "b" } })).not.toBe(view(own));
  });

  test("is everything to others", () => {
    const other: Subscription = { ...own, map: { by: "owner" } };
    expect(view(other, { resourceVersion: "2" })).not.toBe(view(other));
  });

  test("is what is declared to matter, and that it is another one, or about to go", () => {
    const size: Subscription = { ...own, changed: [parseFieldPath("spec.size")] };
    const before = view(size, {}, { spec: { size: 1, colour: "red" } });
    expect(view(size, { generation: 2 }, { spec: { size: 1, colour: "blue" } })).toBe(before);
    expect(view(size, {}, { spec: { size: 2, colour: "red" } })).not.toBe(before);
    expect(view(size, { uid: "other" }, { spec: { size: 1 } })).not.toBe(before);
    expect(view(size, { deletionTimestamp: "2026-01-01T00:00:00Z" }, { spec: { size: 1 } })).not.toBe(before);
  });

  test("is an integer to its last digit", () => {
    const size: Subscription = { ...own, changed: [parseFieldPath("spec.size")] };
    const sized = (value: bigint) => view(size, {}, { spec: { size: value } });
    expect(sized(2n ** 53n)).toBe(sized(2n ** 53n));
    expect(sized(2n ** 53n + 1n)).not.toBe(sized(2n ** 53n));
  });

  test("is every version of what is nested too deep to be compared, and nobody is kept from the others", () => {
    const size: Subscription = { ...own, changed: [parseFieldPath("spec.size")] };
    const spec = { size: JSON.parse("[".repeat(9_000) + "]".repeat(9_000)) as unknown };
    expect(view(size, {}, { spec })).toBe(view(size, {}, { spec }));
    expect(view(size, { resourceVersion: "2" }, { spec })).not.toBe(view(size, {}, { spec }));
  });

  test("is also that it is paused, or that a run is asked for, whatever is declared", () => {
    const size: Subscription = { ...own, changed: [parseFieldPath("spec.size")] };
    const annotated = (annotations: object, of = size) => view(of, { annotations }, { spec: { size: 1 } });
    const before = annotated({});
    expect(annotated({ "example.com/note": "a" })).toBe(before);
    expect(annotated({ "drover.dev/paused": "yes" })).toBe(before);
    expect(annotated({ "drover.dev/paused": "true" })).not.toBe(before);
    const asked = annotated({ "drover.dev/reconcile-at": "monday" });
    expect(asked).not.toBe(before);
    expect(annotated({ "drover.dev/reconcile-at": "tuesday" })).not.toBe(asked);
    const child: Subscription = { ...size, map: { by: "owner" } };
    expect(annotated({ "drover.dev/paused": "true" }, child)).toBe(annotated({}, child));
  });
});

describe("a controller's own finalizer", () => {
  const cleansUp: Subscription = { ...own, ownFinalizer: "drover.dev/buckets" };
  const mine = { finalizers: ["other", "drover.dev/buckets"] };
  const news = (before: object, now: object) =>
    isRelevantChange(means(cleansUp, before), means(cleansUp, now));

  test("is no news when it is put on, which only the controller does", () => {
    expect(news({ finalizers: ["other"] }, mine)).toBe(false);
    expect(news({}, { finalizers: ["drover.dev/others"] })).toBe(true);
  });

  test("is news beside another change, and when somebody takes it off", () => {
    expect(news({ finalizers: ["other"] }, { ...mine, labels: { a: "b" } })).toBe(true);
    expect(news(mine, { finalizers: ["other"] })).toBe(true);
  });

  test("is no news when it comes off an object that is about to go, as others' are", () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(news(mine, { ...mine, deletionTimestamp })).toBe(true);
    expect(news({ ...mine, deletionTimestamp }, { finalizers: ["other"], deletionTimestamp })).toBe(false);
    expect(news({ ...mine, deletionTimestamp }, { ...mine, finalizers: [], deletionTimestamp })).toBe(true);
  });
});

test("who does not select an object is not concerned", () => {
  expect(means({ ...own, namespaces: ["default"] })).toBeDefined();
  expect(means({ ...own, namespaces: ["other"] })).toBeUndefined();
  expect(means({ ...own, selector: { matchLabels: { a: "b" } } })).toBeUndefined();
  expect(means({ ...own, selector: { matchLabels: { a: "b" } } }, { labels: { a: "b" } })).toBeDefined();
});

test("a change of the lookup terms of an object is relevant, though nothing else that matters changes", () => {
  const lookup: Subscription = {
    id: "lookup",
    for: bucketRef,
    map: { by: "selectedBy", within: "namespace" },
    changed: [parseFieldPath("spec.size")],
  };
  const spec = { size: 1 };
  const news = (before: object, now: object) =>
    isRelevantChange(means(lookup, before, { spec }), means(lookup, now, { spec }));
  expect(news({ labels: { a: "1" } }, { labels: { a: "2" } })).toBe(true);
  expect(news({ labels: { a: "1" } }, { labels: { a: "1" }, annotations: { b: "2" } })).toBe(false);
});

test("metadata is enough unless a mapping or what matters is elsewhere", () => {
  expect(needsFullObject(own)).toBe(false);
  expect(needsFullObject({ ...own, changed: [parseFieldPath("metadata.labels")] })).toBe(false);
  expect(needsFullObject({ ...own, changed: [parseFieldPath("spec.size")] })).toBe(true);
  expect(needsFullObject({ ...own, map: { by: "field", path: parseFieldPath("spec.ref") } })).toBe(true);
  expect(needsFullObject({ ...own, map: { by: "field", path: parseFieldPath("metadata.name") } })).toBe(
    false,
  );
  expect(needsFullObject({ ...own, changed: [parseFieldPath("spec.template.metadata.labels")] })).toBe(true);
  expect(needsFullObject({ ...own, copies: true })).toBe(true);
  expect(needsFullObject({ ...own, news: true })).toBe(true);
});
