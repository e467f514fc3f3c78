import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expandUnionIssues, withExactIntegers } from "./exact-integers.ts";
import { schemaPlaces } from "./schema-places.fixture.ts";

const large = 2n ** 53n + 1n;
const tooLarge = "a JavaScript number cannot hold an integer of this size";

describe("an integer that a double cannot hold", () => {
  it.each<readonly [string, z.ZodType, unknown, string]>([
    ...schemaPlaces<unknown>(z.number, large),
    ["for an integer field", z.object({ n: z.int() }), { n: large }, "n"],
    ["for a union", z.object({ n: z.union([z.int(), z.string()]) }), { n: large }, "n"],
    ["for any JSON", z.object({ any: z.json() }), { any: { a: [large] } }, "any.a.0"],
    ["for a coerced number", z.object({ n: z.coerce.number() }), { n: large }, "n"],
  ])("%s is refused, with its path", (_where, schema, value, path) => {
    const { error } = withExactIntegers(schema).safeParse(value);
    const [issue] = expandUnionIssues(error?.issues ?? []);
    expect([issue?.path.join("."), issue?.message]).toEqual([path, expect.stringContaining(tooLarge)]);
  });

  it("is a number if a double has the same digits, and z.number() allows it", () => {
    const schema = withExactIntegers(z.object({ n: z.number(), m: z.number().max(1e19) }));
    expect(schema.parse({ n: 10n ** 18n, m: 1152921504606847000n })).toEqual({ n: 1e18, m: 2 ** 60 });
    expect(withExactIntegers(z.int()).safeParse(10n ** 18n).success).toBe(false);
    expect(withExactIntegers(z.number()).safeParse(1152921504606846976n).success).toBe(false);
  });
});

describe("z.bigint()", () => {
  it("accepts every integer, and returns BigInts", () => {
    const schema = withExactIntegers(z.object({ n: z.bigint(), list: z.array(z.int64()).optional() }));
    expect(schema.parse({ n: 5, list: [0, large] })).toEqual({ n: 5n, list: [0n, large] });
    expect(schema.parse({ n: -large })).toEqual({ n: -large });
    for (const n of [0.5, "5", true, null, 1e30]) expect(schema.safeParse({ n }).success).toBe(false);
  });

  it("keeps its checks", () => {
    const schema = withExactIntegers(z.bigint().min(3n).multipleOf(2n));
    expect([1, 3, 4].map((value) => schema.safeParse(value).success)).toEqual([false, false, true]);
  });
});

it("z.number() accepts a small BigInt as a number", () => {
  expect(withExactIntegers(z.object({ n: z.int() })).parse({ n: 5n })).toEqual({ n: 5 });
});
