import { checkedAtRun, goPatternProblem } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withLinearPatterns } from "./linear-patterns.ts";

/** JavaScript matches this blank and RE2 does not, so the result shows which of them matched. */
const blank = () => z.string().regex(/^\s$/);
const text = "\u00a0";

describe("RE2 matches a pattern", () => {
  const deep: z.ZodType = z.lazy(() => z.object({ name: blank(), deeper: deep.optional() }));
  it.each<[string, z.ZodType, unknown]>([
    ["of a field", z.object({ name: blank() }), { name: text }],
    ["of an item", z.object({ names: z.array(blank()).max(5) }), { names: [text] }],
    ["of a key", z.record(blank(), z.string()), { [text]: "" }],
    ["of a value", z.record(z.string(), blank()), { a: text }],
    ["of a union", z.union([z.number(), z.object({ name: blank() })]), { name: text }],
    [
      "of a discriminated union",
      z.discriminatedUnion("kind", [z.object({ kind: z.literal("a"), name: blank() })]),
      { kind: "a", name: text },
    ],
    [
      "of an intersection",
      z.intersection(z.object({ a: z.string() }), z.object({ name: blank() })),
      { a: "", name: text },
    ],
    ["of a field that may be missing", z.object({ name: blank().optional().nullable() }), { name: text }],
    ["of a field with a default", z.object({ name: blank().default(" ") }), { name: text }],
    ["of unknown fields", z.object({}).catchall(blank()), { name: text }],
    ["of a tuple's rest", z.tuple([z.string()], blank()), ["", text]],
    ["between other checks", z.string().min(1).regex(/^.$/).regex(/^\s$/).max(100), text],
    ["that is a format", z.stringFormat("blank", /^\s$/), text],
    ["of a recursive schema", deep, { name: " ", deeper: { name: text } }],
    ["of a pipe", blank().pipe(z.string()).readonly(), text],
  ])("%s", (_where, schema, value) => {
    expect(schema.safeParse(value)).toMatchObject({ success: true });
    expect(withLinearPatterns(schema).safeParse(value)).toMatchObject({ success: false });
  });
});

it("a pattern is matched as by the API server: blanks are ASCII, and a character is a code point", () => {
  const spec = withLinearPatterns(
    z.object({ blank: z.string().regex(/^\s$/), one: z.string().regex(/^.$/) }),
  );
  expect(spec.safeParse({ blank: " ", one: "😀" }).success).toBe(true);
  expect(spec.safeParse({ blank: "\u00a0", one: "a" }).success).toBe(false);
  expect(spec.safeParse({ blank: "\t", one: "\ud800" }).success).toBe(true);
});

it("a format of zod accepts the same values, and names its pattern", () => {
  const spec = withLinearPatterns(
    z.object({ id: z.uuid(), mail: z.email(), at: z.iso.datetime(), ip: z.ipv4() }),
  );
  const good = {
    id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    mail: "a.b+c@example.com",
    at: "2026-01-02T03:04:05Z",
    ip: "10.0.0.255",
  };
  expect(spec.parse(good)).toEqual(good);
  const { error } = spec.safeParse({ ...good, ip: "10.0.0.256", mail: "a@b" });
  expect(error?.issues).toMatchObject([
    { path: ["mail"], format: "email", pattern: z.regexes.email.toString() },
    { path: ["ip"], format: "ipv4", pattern: z.regexes.ipv4.toString() },
  ]);
});

it("a pattern that RE2 does not support is matched by JavaScript", () => {
  const spec = withLinearPatterns(z.string().regex(/^(?!x)[A-Z]+$/i, checkedAtRun));
  expect(spec.safeParse("abc").success).toBe(true);
  expect(spec.safeParse("xbc").success).toBe(false);
});

it("the schema is the same object, with its original patterns", () => {
  const pattern = /^([a-z0-9]+-?)+$/;
  const schema = z.object({ name: z.string().regex(pattern) });
  expect(withLinearPatterns(schema)).toBe(schema);
  expect(z.toJSONSchema(schema)).toMatchObject({ properties: { name: { pattern: pattern.source } } });
});

it("RE2 supports every pattern of zod that a CRD accepts", () => {
  const patterns = Object.values(z.regexes).filter((pattern) => pattern instanceof RegExp);
  const carried = patterns.filter((pattern) => goPatternProblem(pattern) === undefined);
  expect(carried.length).toBeGreaterThan(20);
  for (const pattern of carried) expect(() => withLinearPatterns(z.string().regex(pattern))).not.toThrow();
});
