import { checkedAtRun, goPatternProblem } from "@drover/controller";
import { expect, it } from "vitest";
import { z } from "zod";
import { withLinearPatterns } from "./linear-patterns.ts";
import { schemaPlaces } from "./schema-places.fixture.ts";

/** JavaScript matches this blank and RE2 does not, so the result shows which of them matched. */
const blank = () => z.string().regex(/^\s$/);
const text = "\u00a0";

it.each<readonly [string, z.ZodType, unknown]>([
  ...schemaPlaces(blank, text).map(([where, schema, value]) => [where, schema, value] as const),
  ["of a key", z.record(blank(), z.string()), { [text]: "" }],
  ["between other checks", z.string().min(1).regex(/^.$/).regex(/^\s$/).max(100), text],
  ["that is a format", z.stringFormat("blank", /^\s$/), text],
])("RE2 matches a pattern %s", (_where, schema, value) => {
  expect(schema.safeParse(value)).toMatchObject({ success: true });
  expect(withLinearPatterns(schema).safeParse(value)).toMatchObject({ success: false });
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
