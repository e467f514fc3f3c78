import { expect, it } from "vitest";
import { field, textAt } from "../../../packages/sandbox/src/json.ts";
import { sequenceOf } from "./generate.ts";

const many = Array.from({ length: 300 }, (_, seed) => sequenceOf(seed));
const actions = many.flatMap((one) => one.actions);
const created = actions.flatMap((action) =>
  action.do === "create" && action.object["kind"] === "CronJob" ? [action.object] : [],
);

it("is the same for the same seed, and data", () => {
  expect(sequenceOf(7)).toEqual(sequenceOf(7));
  expect(sequenceOf(7)).not.toEqual(sequenceOf(8));
  for (const one of many) expect(JSON.parse(JSON.stringify(one.actions))).toEqual(one.actions);
});

it("does everything that it can do, at most two things in a minute, and then lets it end", () => {
  const all = new Set(actions.map((action) => action.do));
  expect([...all].sort()).toEqual(["clear", "create", "delete", "job", "kubectl", "minute", "patch", "pods"]);
  for (const one of many) {
    const rounds = one.actions.map((action) => (action.do === "minute" ? "|" : "x")).join("");
    expect(rounds).toMatch(/^(?:xx?\|){1,5}$/);
    expect(one.actions[0]?.do).toBe("create");
  }
});

it("sets every field of a CronJob, with every policy", () => {
  const fields = new Set(created.flatMap((one) => Object.keys(field(one, "spec") ?? {})));
  expect([...fields].sort()).toEqual([
    "concurrencyPolicy",
    "failedJobsHistoryLimit",
    "jobTemplate",
    "schedule",
    "startingDeadlineSeconds",
    "successfulJobsHistoryLimit",
    "suspend",
    "timeZone",
  ]);
  const policies = new Set(created.map((one) => textAt(one, "spec", "concurrencyPolicy")));
  expect([...policies].sort()).toEqual(["Allow", "Forbid", "Replace", undefined]);
});
