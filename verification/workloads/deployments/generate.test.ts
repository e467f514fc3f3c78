import { expect, it } from "vitest";
import { sequenceOf } from "./generate.ts";

const many = Array.from({ length: 300 }, (_, seed) => sequenceOf(seed));

it("is the same for the same seed", () => {
  expect(sequenceOf(7)).toEqual(sequenceOf(7));
  expect(sequenceOf(7)).not.toEqual(sequenceOf(8));
});

it("does everything that it can do, and begins with something to do it to", () => {
  const all = new Set(many.flatMap(({ actions }) => actions.map((action) => action.do)));
  expect([...all].sort()).toEqual([
    ...["clear", "create", "delete", "kubectl", "patch", "pods", "quota", "replicaSet", "rollOver"],
  ]);
  for (const { actions } of many) expect(actions[0]?.do).toBe("create");
});

it("is data", () => {
  for (const one of many) expect(JSON.parse(JSON.stringify(one.actions))).toEqual(one.actions);
});
