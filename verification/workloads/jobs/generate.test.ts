import { expect, it } from "vitest";
import { field, textAt } from "../../../packages/sandbox/src/json.ts";
import { sequenceOf } from "./generate.ts";

const many = Array.from({ length: 300 }, (_, seed) => sequenceOf(seed));
const created = many
  .flatMap(({ actions }) => actions)
  .flatMap((action) => (action.do === "create" && action.object["kind"] === "Job" ? [action.object] : []));

it("is the same for the same seed", () => {
  expect(sequenceOf(7)).toEqual(sequenceOf(7));
  expect(sequenceOf(7)).not.toEqual(sequenceOf(8));
});

it("does everything that it can do, and begins with something to do it to", () => {
  const all = new Set(many.flatMap(({ actions }) => actions.map((action) => action.do)));
  expect([...all].sort()).toEqual(["clear", "create", "delete", "patch", "pods", "quota"]);
  for (const { actions } of many) expect(actions[0]?.do).toBe("create");
});

it("sets every field that a controller of Jobs reads", () => {
  const fields = new Set(created.flatMap((job) => Object.keys(field(job, "spec") ?? {})));
  expect([...fields].sort()).toEqual([
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "completionMode",
    "completions",
    "managedBy",
    "manualSelector",
    "maxFailedIndexes",
    "parallelism",
    "podFailurePolicy",
    "podReplacementPolicy",
    "selector",
    "successPolicy",
    "suspend",
    "template",
    "ttlSecondsAfterFinished",
  ]);
});

it("creates only Jobs that the API server takes", () => {
  for (const job of created) {
    const has = (name: string): boolean => field(job, "spec", name) !== undefined;
    const never = textAt(job, "spec", "template", "spec", "restartPolicy") === "Never";
    const indexed = textAt(job, "spec", "completionMode") === "Indexed";
    if (has("podFailurePolicy")) expect(never && !has("podReplacementPolicy")).toBe(true);
    if (has("backoffLimitPerIndex")) expect(never && indexed).toBe(true);
    if (has("successPolicy")) expect(indexed).toBe(true);
    if (has("selector")) expect(has("manualSelector")).toBe(true);
  }
});

it("is data", () => {
  for (const one of many) expect(JSON.parse(JSON.stringify(one.actions))).toEqual(one.actions);
});
