import { z } from "zod";

/** Schemas with a leaf in each place that zod knows, each with a value that has `value` there, and its path. */
export function schemaPlaces<Value>(
  leaf: () => z.ZodType<Value>,
  value: Value,
): readonly (readonly [where: string, schema: z.ZodType, whole: unknown, path: string])[] {
  const deep: z.ZodType = z.lazy(() => z.object({ n: leaf().optional(), deeper: deep.optional() }));
  const tagged = z.object({ kind: z.literal("a"), n: leaf() });
  return [
    ["of a field", z.object({ n: leaf() }), { n: value }, "n"],
    ["of a field that may be missing", z.object({ n: leaf().optional().nullable() }), { n: value }, "n"],
    ["of a field with a default", z.object({ n: leaf().default(value as never) }), { n: value }, "n"],
    ["of an item", z.array(leaf()).max(5), [value], "0"],
    ["of a value of a map", z.record(z.string(), leaf()), { a: value }, "a"],
    ["inside a union", z.union([z.boolean(), z.object({ n: leaf() })]), { n: value }, "n"],
    ["of a discriminated union", z.discriminatedUnion("kind", [tagged]), { kind: "a", n: value }, "n"],
    [
      "of an intersection",
      z.intersection(z.object({ a: z.string() }), z.object({ n: leaf() })),
      { a: "", n: value },
      "n",
    ],
    ["of unknown fields", z.object({}).catchall(leaf()), { n: value }, "n"],
    ["of a tuple's rest", z.tuple([z.string()], leaf()), ["", value], "1"],
    ["of a pipe", leaf().pipe(z.any()).readonly(), value, ""],
    ["of a recursive schema", deep, { deeper: { n: value } }, "deeper.n"],
  ];
}
