import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { structuralSchema } from "./from-zod.ts";
import type { SchemaProblem } from "./place.ts";
import type { StructuralSchema } from "./schema.ts";

/** Where a number of bits ends, and where a fraction is. */
const edges = [0, 1, 2, 99, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 2, 2 ** 53 - 1];
const bound = fc.constantFrom(...edges, ...edges.map((edge) => -edge), 0.5, -0.5, 98.5);
const check = fc.tuple(fc.constantFrom("gt", "gte", "lt", "lte"), bound);
const values = [...edges, 100, 98].flatMap((edge) => [edge, -edge, edge + 1, -edge - 1, edge - 1]);

/** As the API server reads a schema of whole numbers: inclusive bounds of a value. */
const isWithin = ({ minimum, maximum }: StructuralSchema, value: number | bigint): boolean =>
  (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum);

it("the bounds of whole numbers let in what zod does, and 32 bits are said where they suffice", () => {
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(fc.array(check, { maxLength: 3 }), (checks) => {
      const schema = checks.reduce((of, [name, at]) => of[name](at), z.int());
      const problems: SchemaProblem[] = [];
      const form = structuralSchema(schema, "spec", problems);
      // Where nothing is let in but what is beyond all bounds that a CRD can have.
      if (problems.length > 0) {
        for (const value of values.filter((one) => Math.abs(one) < 2 ** 53 - 1))
          expect(schema.safeParse(value).success).toBe(false);
        return;
      }
      for (const value of values)
        if (Number.isSafeInteger(value))
          expect(isWithin(form, value), `${value} within ${JSON.stringify(form)}`).toBe(
            schema.safeParse(value).success,
          );
      if (Number(form.minimum) > Number(form.maximum)) return; // nothing needs no bits
      const isSmall = [form.minimum, form.maximum].every((at) => at !== undefined && at === (at | 0));
      expect(form).toMatchObject({ type: "integer", format: isSmall ? "int32" : "int64" });
      seen.add(form.format);
    }),
    { numRuns: 2_000, seed: 1 },
  );
  expect([...seen].sort()).toEqual(["int32", "int64"]);
});

it("the bounds of integers of 64 bits let in what zod does, or are refused", () => {
  const most = 2n ** 63n;
  const whole = [...edges.map(BigInt), most - 1n, most];
  const ends = fc.constantFrom(...whole, ...whole.map((edge) => -edge));
  let refused = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("gt", "gte", "lt", "lte"), ends), { maxLength: 3 }),
      (checks) => {
        const schema = checks.reduce((of, [name, at]) => of[name](at), z.bigint());
        const problems: SchemaProblem[] = [];
        const form = structuralSchema(schema, "spec", problems);
        if (problems.length > 0) {
          refused++;
          return;
        }
        expect(form).toMatchObject({ type: "integer", format: "int64" });
        for (const value of whole.flatMap((edge) => [edge, -edge, edge - 1n, 1n - edge]))
          // The format lets in 64 bits.
          if (value >= -most && value < most)
            expect(isWithin(form, value), `${value} within ${JSON.stringify(form)}`).toBe(
              schema.safeParse(value).success,
            );
      },
    ),
    { numRuns: 2_000, seed: 1 },
  );
  expect(refused).toBeGreaterThan(0);
});
