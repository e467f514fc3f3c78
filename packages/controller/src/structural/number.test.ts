import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import type { StructuralSchema } from "./schema.ts";
import { structuralForm } from "./structural-form.fixture.ts";

/** The limits of integer sizes, and fractions. */
const edges = [0, 1, 2, 99, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 2, 2 ** 53 - 1];
const bound = fc.constantFrom(...edges, ...edges.map((edge) => -edge), 0.5, -0.5, 98.5);
const comparison = fc.constantFrom("gt", "gte", "lt", "lte");
const check = fc.tuple(comparison, bound);
const values = [...edges, 100, 98].flatMap((edge) => [edge, -edge, edge + 1, -edge - 1, edge - 1]);

/** Checks a value against the inclusive bounds of a schema, like the API server. */
const isWithin = ({ minimum, maximum }: StructuralSchema, value: number | bigint): boolean =>
  (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);
/** Expects that a form and its schema accept the same values. */
const expectSame = (form: StructuralSchema, schema: z.ZodType, values: readonly (number | bigint)[]) => {
  for (const value of values)
    expect(isWithin(form, value), `${value} within ${JSON.stringify(form)}`).toBe(
      schema.safeParse(value).success,
    );
};

it("the bounds of whole numbers accept the same values as zod, and the format is int32 if that is enough", () => {
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(fc.array(check, { maxLength: 3 }), (checks) => {
      const schema = checks.reduce((of, [name, at]) => of[name](at), z.int());
      const { form, problems } = structuralForm(schema);
      // Only values beyond all bounds of a CRD are accepted.
      if (problems.length > 0) {
        for (const value of values.filter((one) => Math.abs(one) < 2 ** 53 - 1))
          expect(schema.safeParse(value).success).toBe(false);
        return;
      }
      expectSame(form, schema, values.filter(Number.isSafeInteger));
      if (Number(form.minimum) > Number(form.maximum)) return; // an empty range has any format
      const isSmall = [form.minimum, form.maximum].every((at) => at !== undefined && at === (at | 0));
      expect(form).toMatchObject({ type: "integer", format: isSmall ? "int32" : "int64" });
      seen.add(form.format);
    }),
    { numRuns: 2_000, seed: 1 },
  );
  expect([...seen].sort()).toEqual(["int32", "int64"]);
});

it("the bounds of 64-bit integers accept the same values as zod, or are refused", () => {
  const most = 2n ** 63n;
  const whole = [...edges.map(BigInt), most - 1n, most];
  // The format accepts 64 bits.
  const values64 = whole
    .flatMap((edge) => [edge, -edge, edge - 1n, 1n - edge])
    .filter((value) => value >= -most && value < most);
  const ends = fc.constantFrom(...whole, ...whole.map((edge) => -edge));
  let refused = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(comparison, ends), { maxLength: 3 }), (checks) => {
      const schema = checks.reduce((of, [name, at]) => of[name](at), z.bigint());
      const { form, problems } = structuralForm(schema);
      if (problems.length > 0) {
        refused++;
        return;
      }
      expect(form).toMatchObject({ type: "integer", format: "int64" });
      expectSame(form, schema, values64);
    }),
    { numRuns: 2_000, seed: 1 },
  );
  expect(refused).toBeGreaterThan(0);
});
