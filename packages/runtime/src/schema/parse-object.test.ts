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

it("a spec is parsed with its defaults, and a problem has its path", () => {
  expect(read({})).toMatchObject({ spec: { size: 1, colour: "grey" } });
  expect(read({}, { size: "1" })).toMatch(/^spec\.size: /);
  expect(read({}, [])).toMatch(/^spec: /);
});

it.each([null, undefined])("a spec that is %s counts as empty", (spec) => {
  const raw = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", uid: "u", resourceVersion: "1" },
    spec,
  };
  const ofOthers = { ...Cup, spec: z.looseObject({}) };
  expect(parseObject(ofOthers, raw)).toMatchObject({ ok: true, object: { spec: {} } });
  expect(parseObject(Cup, raw)).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^spec\.size: /) as string,
  });
});

it.each<[string, unknown, object]>([
  ["with some of its fields", { made: 1 }, { made: 1 }],
  ["that the schema's refinement refuses", { made: 1, text: "" }, { made: 1, text: "" }],
  [
    "with the fields of the runtime",
    { made: 1, observedGeneration: 3, conditions: [condition] },
    { made: 1, observedGeneration: 3, conditions: [condition] },
  ],
  ["with invalid fields, which are ignored", { made: "1", observedGeneration: 3 }, { observedGeneration: 3 }],
  ["with invalid conditions", { made: 1, conditions: "x" }, { made: 1, conditions: [] }],
  ["that is missing", undefined, {}],
])("a status is parsed %s", (_what, status, expected) => {
  const object = read(status);
  expect(typeof object === "object" && object.status).toEqual(expected);
});

it("conditions are parsed for any other fields", () => {
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
