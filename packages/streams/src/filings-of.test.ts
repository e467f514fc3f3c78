import { objectKey } from "@drover/controller";
import { type Meanings, type ObjectEvent, parseFieldPath } from "@drover/kube";
import { expect, it } from "vitest";
import { filingsOf } from "./filings-of.ts";
import type { Listener } from "./plan-streams.ts";

const ref = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const path = parseFieldPath("spec.ref");
const filing: Listener = {
  controller: "pods",
  queue: "pods",
  subscription: { id: "refs", for: ref, map: { by: "references", path, to: ref } },
};
const key = objectKey({ namespace: "default", name: "a" });
const refs = (...terms: readonly string[]): Meanings => ({
  refs: { view: terms.join(), keys: [key], filed: terms.map((term) => ({ term, note: "" })) },
});
const event = (means: Meanings, before?: Meanings, more: Partial<ObjectEvent> = {}): ObjectEvent => ({
  type: "modified",
  key,
  uid: "u",
  resourceVersion: "2",
  object: undefined,
  means,
  missed: false,
  previous: before && { key, uid: "u", resourceVersion: "1", meant: before },
  ...more,
});
const filed = (...events: readonly ObjectEvent[]) => filingsOf(events, [filing]);
const x = [{ term: "x", note: "" }];

it("files what is new, and what has changed", () => {
  expect(filed(event(refs("x")))).toEqual([{ key, files: { refs: x } }]);
  expect(filed(event(refs("x"), refs("y")))).toEqual([{ key, files: { refs: x } }]);
  expect(filed(event(refs("x"), refs("x")))).toEqual([]);
});

it("files what stands at the end of several changes", () => {
  expect(filed(event(refs("x"), refs("y")), event(refs("x"), refs("x")))).toEqual([
    { key, files: { refs: x } },
  ]);
});

it("files an object that is gone, or concerns the controller no more, under nothing", () => {
  const nothing = [{ key, files: { refs: [] } }];
  expect(filed(event({}, refs("x"), { type: "deleted" }))).toEqual(nothing);
  // What was before is not known where that was lost.
  expect(filed(event({}, undefined, { type: "deleted" }))).toEqual(nothing);
  expect(filed(event({}, refs("x")))).toEqual(nothing);
});
