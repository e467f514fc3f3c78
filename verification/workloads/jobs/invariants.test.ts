import { expect, it } from "vitest";
import { objectAt, type JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Seen } from "../observe.ts";
import { violations } from "./invariants.ts";

let version = 0;
const seen = (kind: "Job" | "Pod", type: Seen["type"], object: JsonObject): Seen => ({
  kind,
  type,
  object: { ...object, metadata: { ...objectAt(object, "metadata"), resourceVersion: String(++version) } },
});
const job = (status: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "web", uid: "job" },
  spec: { parallelism: 2, completions: 2, completionMode: "Indexed", ...spec },
  status,
});
const pod = (name: string, index: number, phase: string, finalizers = [tracking]): JsonObject => ({
  metadata: {
    name,
    uid: name,
    finalizers,
    annotations: { "batch.kubernetes.io/job-completion-index": String(index) },
    ownerReferences: [{ kind: "Job", name: "web", uid: "job", controller: true }],
  },
  status: { phase },
});
const tracking = "batch.kubernetes.io/job-tracking";
const broken = (...during: readonly Seen[]): readonly string[] =>
  violations({ action: { do: "clear" }, before: [seen("Job", "ADDED", job())], during });

it("finds a second active pod of an index, and none once the first has ended", () => {
  const first = seen("Pod", "ADDED", pod("a", 0, "Running"));
  expect(broken(first, seen("Pod", "ADDED", pod("b", 0, "Pending")))).toEqual(["b has the index of a"]);
  const failed = seen("Pod", "MODIFIED", pod("a", 0, "Failed"));
  expect(broken(first, failed, seen("Pod", "ADDED", pod("b", 0, "Pending")))).toEqual([]);
});

it("finds more active pods than the parallelism", () => {
  const pods = ["a", "b", "c"].map((name, i) => seen("Pod", "ADDED", pod(name, i, "Running")));
  expect(broken(...pods)).toEqual(["c is one of 3 active pods: at most 2 may be"]);
});

it("finds an ended pod that loses its finalizer before it is counted, whichever watch is first", () => {
  const before = [
    seen("Pod", "ADDED", pod("a", 0, "Running")),
    seen("Pod", "MODIFIED", pod("a", 0, "Succeeded")),
  ];
  const noted = seen("Job", "MODIFIED", job({ completedIndexes: "0", succeeded: 1 }));
  const freed = seen("Pod", "MODIFIED", pod("a", 0, "Succeeded", []));
  expect(broken(...before, freed, noted)).toEqual([]);
  expect(broken(...before, freed)).toEqual(["a has lost its finalizer and is not counted"]);
});

it("finds a count that decreases", () => {
  const [two, one] = [2, 1].map((failed) => seen("Job", "MODIFIED", job({ failed })));
  expect(two && one && broken(two, one)).toEqual(["web has 1 failed pods after 2"]);
});
