import { objectKey } from "@drover/controller";
import type { MappingResults, ObjectEvent } from "@drover/kube";
import { parseFieldPath } from "@drover/controller";
import { expect, it } from "vitest";
import { indexUpdatesOf } from "./follow-stream.ts";
import type { Subscriber } from "./plan-streams.ts";

const ref = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const path = parseFieldPath("spec.ref");
const subscriber: Subscriber = {
  controller: "pods",
  queue: "pods",
  subscription: { id: "refs", for: ref, map: { by: "references", path, to: ref } },
};
const key = objectKey({ namespace: "default", name: "a" });
const refs = (...terms: readonly string[]): MappingResults => ({
  refs: { view: terms.join(), keys: [key], entries: terms.map((term) => ({ term, note: "" })) },
});
const event = (
  matched: MappingResults,
  before?: MappingResults,
  more: Partial<ObjectEvent> = {},
): ObjectEvent => ({
  type: "modified",
  key,
  uid: "u",
  resourceVersion: "2",
  object: undefined,
  matched,
  missed: false,
  previous: before && { key, uid: "u", resourceVersion: "1", matched: before },
  ...more,
});
const updates = (...events: readonly ObjectEvent[]) => indexUpdatesOf(events, [subscriber]);
const x = [{ term: "x", note: "" }];

it("new and changed objects get new entries", () => {
  expect(updates(event(refs("x")))).toEqual([{ key, entries: { refs: x } }]);
  expect(updates(event(refs("x"), refs("y")))).toEqual([{ key, entries: { refs: x } }]);
  expect(updates(event(refs("x"), refs("x")))).toEqual([]);
});

it("the last one of several changes decides the entries", () => {
  expect(updates(event(refs("x"), refs("y")), event(refs("x"), refs("x")))).toEqual([
    { key, entries: { refs: x } },
  ]);
});

it("a deleted object, and one that no longer matches, has no entries", () => {
  const nothing = [{ key, entries: { refs: [] } }];
  expect(updates(event({}, refs("x"), { type: "deleted" }))).toEqual(nothing);
  // The previous state may be lost.
  expect(updates(event({}, undefined, { type: "deleted" }))).toEqual(nothing);
  expect(updates(event({}, refs("x")))).toEqual(nothing);
});
