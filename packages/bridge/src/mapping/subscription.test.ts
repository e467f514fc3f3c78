import { describe, expect, test } from "vitest";
import { parseFieldPath } from "@drover/controller";
import { kubeObjectSchema } from "@drover/kube";
import { isRelevantChange, mappingResultsOf, needsFullObject, type Subscription } from "./subscription.ts";
import { bucketRef, bucketObject } from "../../../kube/src/testing/objects.ts";

const own: Subscription = { id: "own", for: bucketRef, map: { by: "self" } };
const size: Subscription = { ...own, changed: [parseFieldPath("spec.size")] };
const object = (metadata: object = {}, more: object = {}) =>
  kubeObjectSchema.parse({ ...bucketObject("a", { generation: 1, ...metadata }), ...more });
const mapped = (subscription: Subscription, ...about: Parameters<typeof object>) =>
  mappingResultsOf(object(...about), [subscription])[subscription.id];
const view = (...given: Parameters<typeof mapped>) => mapped(...given)?.view;

describe("the view of an object", () => {
  test("is everything but the status, for its own controller", () => {
    expect(view(own, { resourceVersion: "2" })).toBe(view(own));
    expect(view(own, { generation: 2 })).not.toBe(view(own));
    expect(view(own, { labels: { a: "b" } })).not.toBe(view(own));
  });

  test("is everything, for other controllers", () => {
    const other: Subscription = { ...own, map: { by: "owner" } };
    expect(view(other, { resourceVersion: "2" })).not.toBe(view(other));
  });

  test("is the declared fields, the uid and the deletion timestamp", () => {
    const before = view(size, {}, { spec: { size: 1, colour: "red" } });
    expect(view(size, { generation: 2 }, { spec: { size: 1, colour: "blue" } })).toBe(before);
    expect(view(size, {}, { spec: { size: 2, colour: "red" } })).not.toBe(before);
    expect(view(size, { uid: "other" }, { spec: { size: 1 } })).not.toBe(before);
    expect(view(size, { deletionTimestamp: "2026-01-01T00:00:00Z" }, { spec: { size: 1 } })).not.toBe(before);
  });

  test("includes every digit of an integer", () => {
    const sized = (value: bigint) => view(size, {}, { spec: { size: value } });
    expect(sized(2n ** 53n)).toBe(sized(2n ** 53n));
    expect(sized(2n ** 53n + 1n)).not.toBe(sized(2n ** 53n));
  });

  test("is the version, if a declared field is nested too deep to be compared", () => {
    const spec = { size: JSON.parse("[".repeat(9_000) + "]".repeat(9_000)) as unknown };
    expect(view(size, {}, { spec })).toBe(view(size, {}, { spec }));
    expect(view(size, { resourceVersion: "2" }, { spec })).not.toBe(view(size, {}, { spec }));
  });

  test("always includes the pause and the request for a run", () => {
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

  test("always includes the session of drover dev that reconciles the object", () => {
    const labelled = (labels: object, of = size) => view(of, { labels }, { spec: { size: 1 } });
    const [before, taken] = [labelled({}), labelled({ "drover.dev/dev": "ada-1" })];
    expect(labelled({ team: "a" })).toBe(before);
    expect(taken).not.toBe(before);
    expect(labelled({ "drover.dev/dev": "bob-2" })).not.toBe(taken);
    const child: Subscription = { ...size, map: { by: "owner" } };
    expect(labelled({ "drover.dev/dev": "ada-1" }, child)).toBe(labelled({}, child));
  });
});

describe("a controller's own finalizer", () => {
  const cleansUp: Subscription = { ...own, ownFinalizer: "drover.dev/buckets" };
  const mine = { finalizers: ["other", "drover.dev/buckets"] };
  const isRelevant = (before: object, now: object) =>
    isRelevantChange(mapped(cleansUp, before), mapped(cleansUp, now));

  test("is not a relevant change when it is added, which only the controller does", () => {
    expect(isRelevant({ finalizers: ["other"] }, mine)).toBe(false);
    expect(isRelevant({}, { finalizers: ["drover.dev/others"] })).toBe(true);
  });

  test("is relevant together with another change, and when it is removed", () => {
    expect(isRelevant({ finalizers: ["other"] }, { ...mine, labels: { a: "b" } })).toBe(true);
    expect(isRelevant(mine, { finalizers: ["other"] })).toBe(true);
  });

  test("is not relevant when another finalizer is removed from an object that is being deleted", () => {
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(isRelevant(mine, { ...mine, deletionTimestamp })).toBe(true);
    expect(isRelevant({ ...mine, deletionTimestamp }, { finalizers: ["other"], deletionTimestamp })).toBe(
      false,
    );
    expect(isRelevant({ ...mine, deletionTimestamp }, { ...mine, finalizers: [], deletionTimestamp })).toBe(
      true,
    );
  });
});

test("a subscription does not map objects that it does not select", () => {
  expect(mapped({ ...own, namespaces: ["default"] })).toBeDefined();
  expect(mapped({ ...own, namespaces: ["other"] })).toBeUndefined();
  expect(mapped({ ...own, selector: { matchLabels: { a: "b" } } })).toBeUndefined();
  expect(mapped({ ...own, selector: { matchLabels: { a: "b" } } }, { labels: { a: "b" } })).toBeDefined();
});

test("a change of an object's lookup terms is relevant, even if the view is the same", () => {
  const lookup: Subscription = {
    id: "lookup",
    for: bucketRef,
    map: { by: "selectedBy", within: "namespace" },
    changed: [parseFieldPath("spec.size")],
  };
  const spec = { size: 1 };
  const isRelevant = (before: object, now: object) =>
    isRelevantChange(mapped(lookup, before, { spec }), mapped(lookup, now, { spec }));
  expect(isRelevant({ labels: { a: "1" } }, { labels: { a: "2" } })).toBe(true);
  expect(isRelevant({ labels: { a: "1" } }, { labels: { a: "1" }, annotations: { b: "2" } })).toBe(false);
});

test("metadata is enough unless a mapping or a declared field is elsewhere", () => {
  expect(needsFullObject(own)).toBe(false);
  expect(needsFullObject({ ...own, changed: [parseFieldPath("metadata.labels")] })).toBe(false);
  expect(needsFullObject(size)).toBe(true);
  expect(needsFullObject({ ...own, map: { by: "field", path: parseFieldPath("spec.ref") } })).toBe(true);
  expect(needsFullObject({ ...own, map: { by: "field", path: parseFieldPath("metadata.name") } })).toBe(
    false,
  );
  expect(needsFullObject({ ...own, changed: [parseFieldPath("spec.template.metadata.labels")] })).toBe(true);
  expect(needsFullObject({ ...own, copies: true })).toBe(true);
  expect(needsFullObject({ ...own, deltas: true })).toBe(true);
});
