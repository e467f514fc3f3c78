import { expect, it } from "vitest";
import { ReconcileFunction } from "@drover/controller";
import { covers, ownerUidOf } from "./apply-object.ts";

const live = { rules: [{ verbs: ["get"] }], spec: { port: 80, clusterIP: "10.0.0.1" }, empty: null };

it("is content with what a server adds", () => {
  expect(covers(live, { spec: { port: 80 } })).toBe(true);
  expect(covers(live, { spec: { port: 80, nothing: undefined }, list: [] })).toBe(true);
});

it("sees what is missing, and what is another thing", () => {
  expect(covers(live, { spec: { port: 81 } })).toBe(false);
  expect(covers(live, { more: { a: 1 } })).toBe(false);
  expect(covers(undefined, { a: 1 })).toBe(false);
});

it("wants lists whole: a permission more is one too many", () => {
  expect(covers(live, { rules: [{ verbs: ["get"] }] })).toBe(true);
  expect(covers({ rules: [{ verbs: ["get", "delete"] }] }, { rules: [{ verbs: ["get"] }] })).toBe(false);
  expect(covers({ rules: [{}, {}] }, { rules: [{}] })).toBe(false);
});

const owner = { apiVersion: ReconcileFunction.apiVersion, kind: ReconcileFunction.kind, name: "a", uid: "f" };
it.each([
  ["controls it", [{ ...owner, controller: true }], {}, "f"],
  ["is one of its owners, and controls it not", [owner], {}, undefined],
  ["is of another API", [{ ...owner, apiVersion: "example.com/v1", controller: true }], {}, undefined],
  ["is no function", [{ ...owner, kind: "ReplicaSet", controller: true }], {}, undefined],
  ["is named where no owner can be", [], { "drover.dev/owner": "g" }, "g"],
])("an object is a function's that %s", (_, ownerReferences, annotations, expected) => {
  const metadata = { name: "b", uid: "b", resourceVersion: "1", ownerReferences, annotations };
  expect(ownerUidOf({ apiVersion: "v1", kind: "Pod", metadata })).toBe(expected);
});
