import { defineResource } from "@drover/controller";
import { expect, it } from "vitest";
import { z } from "zod";
import { conditionsOf, parseObject } from "./parse-object.ts";

const Cup = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({ size: z.number(), colour: z.string().default("grey") }),
  status: z.object({ made: z.number(), text: z.string() }).refine(({ text }) => text.length > 0),
});
const condition = {
  type: "Ready",
  status: "True",
  reason: "Well",
  message: "",
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const read = (status: unknown, spec: unknown = { size: 1 }) => {
  const raw = {
    apiVersion: Cup.apiVersion,
    kind: Cup.kind,
    spec,
    status,
    metadata: { name: "a", uid: "u", resourceVersion: "1" },
  };
  const parsed = parseObject(Cup, raw);
  return parsed.ok ? parsed.object : parsed.problem;
};

it("a spec is read with its defaults, and what does not fit is said with its path", () => {
  expect(read({})).toMatchObject({ spec: { size: 1, colour: "grey" } });
  expect(read({}, { size: "1" })).toMatch(/^spec\.size: /);
  expect(read({}, null)).toMatch(/^spec: /);
});

it.each<[string, unknown, object]>([
  ["that was written in part, as steps do", { made: 1 }, { made: 1 }],
  ["that the author would refuse whole", { made: 1, text: "" }, { made: 1, text: "" }],
  [
    "beside what the runtime wrote",
    { made: 1, observedGeneration: 3, conditions: [condition] },
    { made: 1, observedGeneration: 3, conditions: [condition] },
  ],
  [
    "whose fields do not fit, which is as good as none",
    { made: "1", observedGeneration: 3 },
    { observedGeneration: 3 },
  ],
  ["with conditions that are none", { made: 1, conditions: "x" }, { made: 1, conditions: [] }],
  ["that is not there", undefined, {}],
])("a status is read %s", (_what, status, expected) => {
  const object = read(status);
  expect(typeof object === "object" && object.status).toEqual(expected);
});

it("conditions are read whatever else a status is", () => {
  const of = (status: unknown) =>
    conditionsOf({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", uid: "u", resourceVersion: "1" },
      status,
    });
  expect(of({ made: "x", conditions: [condition] })).toEqual([condition]);
  expect([of(undefined), of({ conditions: [{}] }), of("x")]).toEqual([[], [], []]);
});
