import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkedAtRun } from "./checks.ts";
import { immutable } from "./kubernetes-meta.ts";
import { structuralForm } from "./structural-form.fixture.ts";

/** The structural form, which must have no problems. */
function form(schema: z.ZodType) {
  const { form: made, problems } = structuralForm(schema);
  expect(problems).toEqual([]);
  return made;
}

const listed = z.object({ name: z.string(), port: z.int().optional() });
// The object that TypeScript compiles `enum Level { Low, High }` to.
const level = { Low: 0, High: 1, 0: "Low", 1: "High" } as const;
const text = { type: "string" };
const integer = { type: "integer", format: "int64" };
const someText: unknown = expect.any(String);

describe("the structural form", () => {
  it.each<[string, z.ZodType, object]>([
    ["text", z.string(), text],
    ["text with bounds", z.string().min(1).max(9), { ...text, minLength: 1, maxLength: 9 }],
    ["text of one length", z.string().length(3), { ...text, minLength: 3, maxLength: 3 }],
    ["a pattern", z.string().regex(/^a+$/), { ...text, pattern: "^a+$" }],
    [
      "several patterns",
      z.string().startsWith("a.").endsWith("b"),
      { ...text, allOf: [{ pattern: "^a\\..*" }, { pattern: ".*b$" }] },
    ],
    ["a date", z.iso.date(), { ...text, pattern: someText }],
    ["a time", z.iso.datetime(), { ...text, pattern: someText }],
    ["a url", z.url(), { ...text, allOf: [{ format: "uri" }] }],
    ["a uuid", z.uuid(), { ...text, pattern: someText }],
    ["an email", z.email(), { ...text, pattern: someText }],
    ["a template", z.templateLiteral(["v", z.int()]), { ...text, pattern: "^v-?\\d+$" }],
    ["a number", z.number(), { type: "number" }],
    ["a bigint", z.bigint(), integer],
    ["a bigint of 64 bits", z.int64(), integer],
    ["a bigint without a sign", z.uint64(), { ...integer, minimum: 0 }],
    [
      "a bigint with bounds and factors",
      z.bigint().gt(1n).min(0n).lt(9n).max(99n).multipleOf(2n).multipleOf(3n),
      { ...integer, minimum: 2, maximum: 8, multipleOf: 2, allOf: [{ multipleOf: 3 }] },
    ],
    ["a bigint with a default", z.bigint().default(2n ** 53n + 1n), { ...integer, default: 2n ** 53n + 1n }],
    [
      "an object with a default of small and large ones",
      z.object({ a: z.bigint() }).default({ a: 2n ** 53n + 1n }),
      {
        type: "object",
        required: ["a"],
        default: { a: 2n ** 53n + 1n },
        properties: { a: integer },
      },
    ],
    ["a double", z.float64(), { type: "number" }],
    [
      "a number with bounds",
      z.number().gt(0).lte(1).multipleOf(1),
      { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, multipleOf: 1 },
    ],
    [
      "whole numbers between fractions",
      z.int().min(0.5).lt(2.5),
      { type: "integer", format: "int32", minimum: 1, maximum: 2 },
    ],
    [
      "a fraction as a bound, which the API server truncates",
      z.number().min(0.5).lt(1.5),
      {
        type: "number",
        maximum: 1.5,
        allOf: [
          { anyOf: [{ minimum: 0.5, exclusiveMinimum: true }, { enum: [0.5] }] },
          { not: { enum: [1.5] } },
        ],
      },
    ],
    [
      "a fraction that is truncated to the right side",
      z.number().min(-1.5).lt(-0.5),
      { type: "number", minimum: -1.5, maximum: -0.5, exclusiveMaximum: true },
    ],
    ["a whole number", z.int(), integer],
    ["a whole number by z.number().int()", z.number().int(), integer],
    ["a positive number", z.int().positive(), { ...integer, minimum: 1 }],
    ["a small number", z.int().min(0).lt(100), { type: "integer", format: "int32", minimum: 0, maximum: 99 }],
    ["an int32", z.int32(), { type: "integer", format: "int32", minimum: -2147483648, maximum: 2147483647 }],
    ["a uint32", z.uint32(), { ...integer, minimum: 0, maximum: 4294967295 }],
    [
      "multiples of several numbers",
      z.number().multipleOf(2).multipleOf(3),
      { type: "number", multipleOf: 2, allOf: [{ multipleOf: 3 }] },
    ],
    ["a boolean", z.boolean(), { type: "boolean" }],
    ["an enum", z.enum(["a", "b"]), { ...text, enum: ["a", "b"] }],
    ["numbers by name", z.enum({ Low: 0, High: 1 }), { type: "integer", enum: [0, 1] }],
    ["a literal", z.literal("a"), { ...text, enum: ["a"] }],
    ["literals", z.literal([1.5, 2]), { type: "number", enum: [1.5, 2] }],
    ["true", z.literal(true), { type: "boolean", enum: [true] }],
    ["mixed literals", z.literal(["auto", 1]), { "x-kubernetes-int-or-string": true, enum: ["auto", 1] }],
    ["null beside text", z.string().nullable(), { ...text, nullable: true }],
    ["null beside an enum", z.enum(["a"]).nullable(), { ...text, nullable: true, allOf: [{ enum: ["a"] }] }],
    ["null in a union", z.union([z.string(), z.null()]), { ...text, nullable: true }],
    ["a list", z.array(z.string()).min(1).max(2), { type: "array", items: text, minItems: 1, maxItems: 2 }],
    [
      "a list of one length",
      z.array(z.string()).length(2),
      { type: "array", items: text, minItems: 2, maxItems: 2 },
    ],
    ["a record", z.record(z.string(), z.int()), { type: "object", additionalProperties: integer }],
    [
      "a record of known keys",
      z.record(z.enum(["a", "b"]), z.string()),
      { type: "object", properties: { a: text, b: text }, required: ["a", "b"] },
    ],
    [
      "a partial record of known keys",
      z.partialRecord(z.enum(["a"]), z.string()),
      { type: "object", properties: { a: text } },
    ],
    [
      "a partial record without defaults",
      z.partialRecord(z.enum(["a"]), z.string().default("x")),
      { type: "object", properties: { a: text } },
    ],
    ["an empty object", z.object({}), { type: "object" }],
    [
      "an object",
      z.object({
        a: z.string(),
        b: z.string().optional(),
        c: z.string().default("x"),
        d: z.string().nullish(),
      }),
      {
        type: "object",
        properties: {
          a: text,
          b: text,
          c: { ...text, default: "x" },
          d: { ...text, nullable: true },
        },
        required: ["a"],
      },
    ],
    [
      "a strict object",
      z.strictObject({ a: z.string().optional() }),
      { type: "object", properties: { a: text } },
    ],
    [
      "a loose object",
      z.looseObject({ a: z.string().optional() }),
      { type: "object", properties: { a: text }, "x-kubernetes-preserve-unknown-fields": true },
    ],
    [
      "a field that is no longer optional",
      z.object({ a: z.string().optional().nonoptional() }),
      { type: "object", properties: { a: text }, required: ["a"] },
    ],
    ["a read-only list", z.array(z.string()).readonly(), { type: "array", items: text }],
    ["a branded type", z.string().brand("Name"), text],
    [
      "a default that is parsed",
      z.object({ a: z.string().default("x") }).prefault({}),
      { type: "object", properties: { a: { ...text, default: "x" } }, default: { a: "x" } },
    ],
    ["a default of null", z.string().nullable().default(null), { ...text, nullable: true }],
    ["an optional default", z.string().default("x").optional(), { ...text, default: "x" }],
    ["a native enum, only its values", z.enum(level), { type: "integer", enum: [0, 1] }],
    ["a description", z.string().describe("inner"), { ...text, description: "inner" }],
    [
      "several descriptions, the outermost last",
      z.string().describe("inner").optional().meta({ title: "T", description: "outer" }),
      { ...text, title: "T", description: "outer" },
    ],
    [
      "a description before a bound",
      z.string().describe("kept").min(1),
      { ...text, minLength: 1, description: "kept" },
    ],
    ["a refinement at run time", z.string().refine(() => true, checkedAtRun), text],
    [
      "a pattern at run time between bounds",
      z
        .string()
        .min(2)
        .regex(/a(?=b)/, checkedAtRun)
        .max(4),
      { ...text, minLength: 2, maxLength: 4 },
    ],
    ["a checksum at run time, with a bound", z.iban(checkedAtRun).min(15), { ...text, minLength: 15 }],
    [
      "a list with a refinement at run time",
      z
        .array(z.int())
        .max(3)
        .refine(() => true, checkedAtRun),
      { type: "array", items: integer, maxItems: 3 },
    ],
  ])("of %s", (_name, schema, expected) => {
    expect(form(schema)).toEqual(expected);
  });

  it("keeps all field names unchanged", () => {
    const odd = z.object({ ["__proto__"]: z.string(), $ref: z.int().max(1).min(0), "a b": z.boolean() });
    const { properties = {}, required } = form(odd);
    expect(Object.keys(properties)).toEqual(["__proto__", "$ref", "a b"]);
    expect(required).toEqual(["__proto__", "$ref", "a b"]);
  });

  it("is the same for shared schemas", () => {
    const shared = z.string().min(1).meta({ id: "shared", description: "once" });
    const once = { ...text, minLength: 1, description: "once" };
    expect(form(z.object({ a: shared, b: z.array(shared) }))).toMatchObject({
      properties: { a: once, b: { items: once } },
    });
  });

  describe("with metadata for Kubernetes", () => {
    it("has rules in CEL, inner before outer", () => {
      const inner = z.string().meta({ kubernetes: immutable });
      const rules = form(inner.optional().meta({ kubernetes: { cel: [{ rule: "self != ''" }] } }));
      expect(rules["x-kubernetes-validations"]).toEqual([...(immutable.cel ?? []), { rule: "self != ''" }]);
    });

    it("has a default that only the server fills in", () => {
      const schema = z.object({
        replicas: z
          .int()
          .optional()
          .meta({ kubernetes: { default: 0 } }),
      });
      expect(form(schema)).toMatchObject({ properties: { replicas: { ...integer, default: 0 } } });
      expect(schema.parse({})).toEqual({});
      const { problems } = structuralForm(z.string().meta({ kubernetes: { default: 0 } }));
      expect(problems).toMatchObject([
        { problem: expect.stringContaining("does not satisfy its schema") as string },
      ]);
    });

    it("has the maximum number of fields of a record", () => {
      const record = z.record(z.string(), z.string()).meta({ kubernetes: { maxProperties: 3 } });
      expect(form(record)).toMatchObject({ maxProperties: 3 });
    });

    it("has lists that merge by key", () => {
      const list = z.array(listed).meta({ kubernetes: { listType: "map", listMapKeys: ["name"] } });
      expect(form(list)).toMatchObject({
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      });
      expect(form(z.array(z.string()).meta({ kubernetes: { listType: "set" } }))).toMatchObject({
        "x-kubernetes-list-type": "set",
      });
      expect(form(listed.meta({ kubernetes: { mapType: "atomic" } }))).toMatchObject({
        "x-kubernetes-map-type": "atomic",
      });
    });

    it.each([z.unknown(), z.any(), z.json(), z.tuple([z.string()]), z.union([z.string(), z.boolean()])])(
      "has values that are not pruned",
      (schema) => {
        const marked = schema.meta({ kubernetes: { preserveUnknownFields: true } });
        expect(form(marked)).toEqual({ "x-kubernetes-preserve-unknown-fields": true });
      },
    );
  });

  describe("of a union", () => {
    it.each<[string, z.ZodType, object]>([
      ["whole numbers and text", z.union([z.int(), z.string()]), { "x-kubernetes-int-or-string": true }],
      [
        "bounded numbers and text",
        z.union([z.int().min(1), z.string().max(9)]),
        { "x-kubernetes-int-or-string": true, minimum: 1, maxLength: 9 },
      ],
      [
        "a word and bounded numbers",
        z.union([z.literal("auto"), z.int().min(1)]),
        {
          "x-kubernetes-int-or-string": true,
          anyOf: [{ enum: ["auto"] }, { minimum: 1, minLength: 1, maxLength: 0 }],
        },
      ],
      ["literals", z.union([z.literal("a"), z.enum(["b", "a"])]), { ...text, enum: ["a", "b"] }],
      [
        "a word and a pattern",
        z.union([z.literal("none"), z.string().regex(/^a/)]),
        { ...text, anyOf: [{ enum: ["none"] }, { pattern: "^a" }] },
      ],
      ["a word and anything", z.union([z.literal("none"), z.string()]), text],
      [
        "ranges",
        z.union([z.int().min(0).max(5), z.int().min(10).max(15)]),
        {
          type: "integer",
          format: "int32",
          anyOf: [
            { minimum: 0, maximum: 5 },
            { minimum: 10, maximum: 15 },
          ],
        },
      ],
      [
        "a nullable alternative",
        z.union([z.literal("a").nullable(), z.string().max(3)]),
        { ...text, nullable: true, anyOf: [{ allOf: [{ enum: ["a"] }] }, { maxLength: 3 }] },
      ],
      [
        "whole numbers of several widths",
        z.union([z.int().min(0).max(5), z.int().min(2 ** 40)]),
        { ...integer, anyOf: [{ minimum: 0, maximum: 5 }, { minimum: 2 ** 40 }] },
      ],
      ["one", z.union([z.string()]), text],
    ])("of %s", (_name, schema, expected) => {
      expect(form(schema)).toEqual(expected);
    });

    const copy = z.object({ type: z.literal("copy"), from: z.string(), note: z.string().optional() });
    const fresh = z.strictObject({ type: z.literal("new"), note: z.string().optional() });

    it("of variants has the required and forbidden fields of each", () => {
      expect(form(z.discriminatedUnion("type", [copy, fresh]))).toEqual({
        type: "object",
        properties: {
          type: { ...text, enum: ["copy", "new"] },
          from: text,
          note: text,
        },
        required: ["type"],
        anyOf: [
          { properties: { type: { enum: ["copy"] } }, required: ["from"] },
          { properties: { type: { enum: ["new"] } }, not: { anyOf: [{ required: ["from"] }] } },
        ],
      });
    });

    it("of variants without fields has no alternatives", () => {
      const kinds = [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b") })] as const;
      expect(form(z.discriminatedUnion("type", kinds))).toEqual({
        type: "object",
        properties: { type: { ...text, enum: ["a", "b"] } },
        required: ["type"],
      });
    });
  });

  it("leaves out only checks that are marked for the runtime", () => {
    const marked = z.string().refine(() => true, checkedAtRun);
    expect(structuralForm(marked.refine(() => true)).problems).toHaveLength(1);
  });
});
