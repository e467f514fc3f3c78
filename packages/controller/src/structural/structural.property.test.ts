import { describe, expect, it } from "vitest";
import { z } from "zod";
import { pseudoRandom } from "@drover/random";
import { randomObject } from "./random-schema.fixture.ts";
import { structuralForm } from "./structural-form.fixture.ts";
import { brokenRules } from "./structural-rules.fixture.ts";

describe("a random schema of the supported kinds", () => {
  it.each(Array.from({ length: 150 }, (_, seed) => seed))("is structural (seed %i)", (seed) => {
    const { schema } = randomObject(pseudoRandom(seed).fraction, 3);
    const { form: structural, problems } = structuralForm(schema);
    expect(problems).toEqual([]);
    expect(brokenRules(structural)).toEqual([]);
    expect(JSON.parse(JSON.stringify(structural))).toStrictEqual(structural);
    expect(structuralForm(schema)).toEqual({ form: structural, problems: [] });
  });
});

describe("the rules", () => {
  const raw = (schema: z.ZodType) =>
    z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", reused: "ref" });
  const shared = z.string().min(1);

  it.each<[string, unknown, string]>([
    ["a reference", raw(z.object({ a: shared, b: shared })), "$ref does not belong here"],
    ["a closed object", raw(z.strictObject({ a: z.string() })), "properties beside additionalProperties"],
    ["a type below anyOf", raw(z.union([z.string(), z.int()])), "type does not belong here"],
    ["no type", raw(z.union([z.string(), z.int()])), "a type is missing"],
    ["bounds of a safe integer", raw(z.object({ a: z.int() })), "a bound without effect"],
    [
      "keys with a pattern",
      raw(z.looseRecord(z.string().regex(/a/), z.string())),
      "patternProperties does not",
    ],
    ["an enum beside null", { type: "string", nullable: true, enum: ["a"] }, "an enum that refuses null"],
    [
      "a field below anyOf alone",
      { type: "object", anyOf: [{ properties: { a: {} } }] },
      "not known outside",
    ],
    ["a list of nothing", { type: "array" }, "a list without items"],
  ])("report %s", (_name, schema, problem) => {
    expect(brokenRules(schema).join("\n")).toContain(problem);
  });
});
