import { describe, expect, it } from "vitest";
import { z } from "zod";
import { structuralForm } from "./structural-form.fixture.ts";

interface Tree {
  readonly children: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));
const chain = z.object({
  name: z.string(),
  get next() {
    return chain.optional();
  },
});
const endless = (): z.ZodObject =>
  z.object({
    get next() {
      return endless();
    },
  });
const item = z.object({ name: z.string(), port: z.int().optional() });
const kubernetes = (meta: Record<string, unknown>) => ({ kubernetes: meta }) as Record<string, unknown>;
const tagged = (type: string, more: z.ZodRawShape) => z.object({ type: z.literal(type), ...more });

describe("a schema that a CRD cannot carry is refused, with what to write instead:", () => {
  it.each<[string, z.core.$ZodType, string]>([
    ["a transform", z.string().transform((text) => text.length), "convert it in reconcile"],
    ["a pipe", z.string().pipe(z.string()), "convert it in reconcile"],
    ["a codec", z.stringbool(), "convert it in reconcile"],
    ["a preprocess", z.preprocess(String, z.string()), "convert it in reconcile"],
    ["a refinement", z.string().refine(() => true), "checkedAtRun"],
    ["a super refinement", z.string().superRefine(() => undefined), "cel rule"],
    ["a check in code", z.string().check(() => undefined), "cel rule"],
    ["a refined list", z.array(z.string()).refine(() => true), "cel rule"],
    ["a refined object", z.object({}).refine(() => true), "cel rule"],
    [
      "a refined wrapper",
      z
        .string()
        .optional()
        .refine(() => true),
      "cel rule",
    ],
    ["a check of a property", z.array(z.string()).check(z.property("length", z.literal(1))), "cel rule"],
    ["trimming", z.string().trim(), "demand the wanted form with a pattern"],
    ["conversion to lower case", z.string().toLowerCase(), "demand the wanted form"],
    ["coercion to text", z.coerce.string(), "without coerce"],
    ["coercion to a number", z.coerce.number(), "without coerce"],
    ["coercion to a boolean", z.coerce.boolean(), "without coerce"],
    [
      "a union of objects",
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      "z.discriminatedUnion()",
    ],
    ["a union of a list and a string", z.union([z.array(z.string()), z.string()]), "z.discriminatedUnion()"],
    ["a union of text and boolean", z.union([z.string(), z.boolean()]), "only z.int() and z.string()"],
    ["a union of text and fractions", z.union([z.string(), z.number()]), "only z.int() and z.string()"],
    ["a union with a default inside", z.union([z.string().default("a"), z.literal("b")]), "on the union"],
    ["an exclusive union", z.xor([z.string(), z.int()]), "z.union()"],
    ["an intersection", z.intersection(z.object({}), z.object({})), ".extend()"],
    ["a tuple", z.tuple([z.string()]), "use an object or a list"],
    ["a date", z.date(), "z.iso.datetime()"],
    ["a bound beyond 2^53", z.bigint().max(2n ** 60n), "bounds of at most 2^53"],
    ["bigint multiples of 0", z.bigint().multipleOf(0n), "multiples of 0"],
    ["a literal bigint", z.literal(1n), "only strings, numbers and booleans"],
    ["NaN", z.nan(), "z.number()"],
    ["a map", z.map(z.string(), z.string()), "z.record("],
    ["a set", z.set(z.string()), 'listType: "set"'],
    ["a symbol", z.symbol(), "z.string()"],
    ["a symbol for a name", z.object({ [Symbol("a")]: z.string() }), "use a string"],
    ["anything", z.any(), "preserveUnknownFields"],
    ["z.unknown()", z.unknown(), "preserveUnknownFields"],
    ["any JSON", z.json(), "preserveUnknownFields"],
    ["a lazy schema", z.lazy(() => z.string()), "write the levels out"],
    ["a recursive schema", tree, "write the levels out"],
    ["a recursive object", chain, "write as many levels as are needed"],
    ["an endless object", endless(), "write as many levels as are needed"],
    ["a catchall", z.object({ a: z.string() }).catchall(z.string()), "z.record()"],
    ["a catch", z.string().catch("a"), "use .default()"],
    ["a custom type", z.custom<string>(), "another type of JSON"],
    ["a class", z.instanceof(URL), "another type of JSON"],
    ["a file", z.file(), "ConfigMap"],
    ["a function", z.function(), "leave it out"],
    ["a promise", z.promise(z.string()), "resolves to"],
    ["null alone", z.null(), ".nullable()"],
    ["undefined", z.undefined(), ".optional()"],
    ["a literal null", z.literal(null), ".nullable()"],
    ["never", z.never(), "leave the field out"],
    ["an empty enum", z.enum([]), "name one"],
    ["mixed literals", z.literal(["a", true]), "use strings"],
    ["a pattern with a flag", z.string().regex(/a/i), 'the flag "i"'],
    ["a pattern with look-ahead", z.string().regex(/a(?!b)/), "look-ahead"],
    ["a pattern with look-behind", z.string().regex(/(?<=a)b/), "look-behind"],
    ["a host name, which needs look-ahead", z.hostname(), "look-ahead"],
    ["an emoji", z.emoji(), "the pattern"],
    ["an ISO duration", z.iso.duration(), "look-ahead"],
    ["an IBAN, which has a checksum", z.iban(), "checked by code"],
    ["a credit card, which has a checksum", z.creditCard(), "checked by code"],
    ["an IBAN with a length", z.iban().min(20), "checked by code"],
    ["a token", z.jwt(), "checked by code"],
    ["a format in code", z.stringFormat("even", (text) => text.length % 2 === 0), "checked by code"],
    ["a url of one protocol", z.httpUrl(), ".startsWith()"],
    ["a loose record", z.looseRecord(z.string().regex(/^a/), z.string()), "use z.record()"],
    ["keys with a pattern", z.record(z.string().regex(/^a/), z.string()), "self.all(key"],
    ["keys that are numbers", z.record(z.int(), z.string()), "keys are strings"],
    ["a float32 with bounds that are too wide", z.float32(), "at most 2^53"],
    ["an infinite bound", z.number().min(Infinity), "leave it out"],
    ["NaN as a bound", z.number().max(NaN), "leave it out"],
    ["multiples of NaN", z.number().multipleOf(NaN), "whole numbers"],
    ["multiples of 0", z.number().multipleOf(0), "whole numbers"],
    ["multiples of a fraction", z.number().multipleOf(0.5), "whole numbers"],
    ["a default that changes", z.string().default(() => crypto.randomUUID()), "set it in reconcile"],
    ["a default that does not fit", z.string().min(5).default("a"), 'the default "a" does not satisfy'],
    [
      "a variant with a default",
      z.discriminatedUnion("type", [tagged("a", { x: z.string().default("") }), tagged("b", {})]),
      'the default of "x"',
    ],
    [
      "variants that disagree",
      z.discriminatedUnion("type", [tagged("a", { x: z.string() }), tagged("b", { x: z.int() })]),
      'the field "x" differs',
    ],
    [
      "a loose variant",
      z.discriminatedUnion("type", [tagged("a", {}).loose(), tagged("b", {})]),
      "unknown fields of its own",
    ],
    [
      "variants inside variants",
      z.discriminatedUnion("type", [
        tagged("a", {}),
        z.discriminatedUnion("type", [tagged("b", { x: z.string() }), tagged("c", {})]),
      ]),
      "side by side",
    ],
    [
      "discriminators of several types",
      z.discriminatedUnion("type", [tagged("a", {}), z.object({ type: z.literal(1) })]),
      "use strings",
    ],
    ["a misspelt field for Kubernetes", z.string().meta(kubernetes({ cell: [] })), '"cell"'],
    ["a rule without a rule", z.string().meta(kubernetes({ cel: [{ message: "no" }] })), "cel[0].rule"],
    ["a set of objects", z.array(item).meta(kubernetes({ listType: "set" })), 'listType "map"'],
    ["a list map without keys", z.array(item).meta(kubernetes({ listType: "map" })), "listMapKeys"],
    ["keys without a list map", z.array(item).meta(kubernetes({ listMapKeys: ["name"] })), "add it"],
    [
      "an optional list map key",
      z.array(item).meta(kubernetes({ listType: "map", listMapKeys: ["port"] })),
      '"port" must be',
    ],
    ["a list type for text", z.string().meta(kubernetes({ listType: "atomic" })), "only a list"],
    ["a map type for text", z.string().meta(kubernetes({ mapType: "atomic" })), "only an object"],
    [
      "unknown fields of text",
      z.string().meta(kubernetes({ preserveUnknownFields: true })),
      "only an object",
    ],
  ])("%s", (_name, schema, advice) => {
    const { problems } = structuralForm(schema);
    expect(problems.map(({ problem }) => problem).join("\n")).toContain(advice);
    expect(problems).toHaveLength(1);
  });
});

describe("a refusal's path", () => {
  const bad = z.date();
  it.each<[string, z.core.$ZodType]>([
    ["spec.a.b", z.object({ a: z.object({ b: bad }) })],
    ["spec.rules[].when", z.object({ rules: z.array(z.object({ when: bad })).min(1) })],
    ["spec.tags.*", z.object({ tags: z.record(z.string(), bad).optional() })],
    [
      "spec.tags.<key>",
      z.object({
        tags: z.record(
          z.string().refine(() => true),
          z.string(),
        ),
      }),
    ],
    ['spec["a b"]', z.object({ "a b": bad.nullable().default(null) })],
    ["spec(type=x).at", z.discriminatedUnion("type", [tagged("x", { at: bad }), tagged("y", {})])],
    ["spec", z.union([z.string(), bad])],
  ])("is %s", (path, schema) => {
    expect(structuralForm(schema).problems.map((problem) => problem.path)).toEqual([path]);
  });

  it("is given for every problem at once", () => {
    const schema = z.object({ a: bad, b: z.array(z.tuple([])), c: z.string(), d: z.map(z.string(), bad) });
    expect(structuralForm(schema).problems.map(({ path }) => path)).toEqual(["spec.a", "spec.b[]", "spec.d"]);
  });
});
