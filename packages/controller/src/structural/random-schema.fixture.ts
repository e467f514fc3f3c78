// Random schemas that a CRD can have, each with a source of values: most are valid, some are not.
import { z } from "zod";
import type { Json } from "./schema.ts";

/** Returns numbers from 0 to 1, like `fraction` of a pseudoRandom. */
export type Random = () => number;

export interface Sample {
  readonly schema: z.ZodType;
  readonly value: () => Json;
}

const below = (random: Random, end: number): number => Math.floor(random() * end);
const pick = <T>(random: Random, [first, ...rest]: readonly [T, ...T[]]): T =>
  rest[below(random, rest.length + 1)] ?? first;
const words = ["", "a", "b", "ab", "abc", "a-1", "Zebra", "ünder", "1", "s3", "true"] as const;
const formatted = ["10.0.0.1", "2024-02-29", "https://example.com/a", "YQ==", "a--7"] as const;
const word = (random: Random): string => pick(random, random() < 0.6 ? words : formatted);
const anything = (random: Random): Json =>
  pick<Json>(random, [
    "",
    "abc",
    0,
    1,
    -5,
    2.5,
    1e9,
    true,
    false,
    [],
    ["a"],
    [1],
    {},
    { a: 1 },
    { type: "a" },
  ]);

/** A sample with at most `depth` nested objects and lists. */
export function randomSample(random: Random, depth: number): Sample {
  const makers = depth > 0 && random() < 0.6 ? containers : scalars;
  const sample = wrapped(random, pick(random, makers)(random, depth - 1));
  return {
    schema: sample.schema,
    value: () => (random() < 0.03 ? anything(random) : mostlyFitting(random, sample)),
  };
}

function mostlyFitting(random: Random, { schema, value }: Sample): Json {
  let found = value();
  for (let tries = random() < 0.95 ? 8 : 0; tries > 0 && !schema.safeParse(found).success; tries--)
    found = value();
  return found;
}

/** An object of random fields, like a spec. */
export function randomObject(random: Random, depth: number): Sample & { readonly schema: z.ZodObject } {
  const fields = ["a", "b", "c", "kind", "$ref", "a b"].slice(below(random, 4)).map((name) => ({
    name,
    optional: random() < 0.4,
    sample: randomSample(random, depth),
  }));
  const shape = Object.fromEntries(
    fields.map(({ name, optional, sample }) => [name, optional ? sample.schema.optional() : sample.schema]),
  );
  const present = () => fields.filter(({ optional }) => random() < (optional ? 0.5 : 0.97));
  return {
    schema: pick(random, [z.object, z.object, z.strictObject, z.looseObject])(shape),
    value: () => Object.fromEntries(present().map(({ name, sample }) => [name, sample.value()])),
  };
}

function wrapped(random: Random, { schema, value }: Sample): Sample {
  const roll = random();
  if (roll < 0.1) return { schema: schema.nullable(), value: () => (random() < 0.3 ? null : value()) };
  if (roll < 0.15) return { schema: schema.readonly(), value };
  if (roll < 0.2) return { schema: schema.describe("text"), value };
  const given = schema.safeParse(value());
  return roll < 0.3 && given.success ? { schema: schema.default(given.data), value } : { schema, value };
}

type Maker = (random: Random, depth: number) => Sample;

function boundedText(random: Random): Sample {
  const least = below(random, 3);
  const schemas = [
    z.string(),
    z.string().min(least),
    z.string().max(least + 2),
    z.string().length(least + 1),
    z.string().regex(/^[a-z]+$/),
    z.string().startsWith("a").includes("b").max(5),
    z.ipv4(),
    z.iso.date(),
    z.url(),
    z.base64(),
    z.templateLiteral(["a-", z.int()]),
  ] as const;
  return { schema: pick<z.ZodType>(random, schemas), value: () => word(random) };
}

function boundedNumber(random: Random): Sample {
  const least = below(random, 7) - 3;
  const schemas = [
    z.int(),
    z.int().min(least),
    z
      .int()
      .gt(least)
      .lt(least + 5),
    z.int32(),
    z.uint32(),
    z.number(),
    z
      .number()
      .min(least)
      .max(least + 0.5),
    z.number().gt(least).multipleOf(2),
    z.float64(),
    z.number().min(least + 0.5),
    z.number().gt(least + 0.5),
    z.number().max(least - 0.5),
    z.number().lt(least - 0.5),
  ] as const;
  return {
    schema: pick<z.ZodType>(random, schemas),
    value: () => pick(random, [-3, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 5e9]),
  };
}

const scalars: readonly [Maker, ...Maker[]] = [
  boundedText,
  boundedText,
  boundedNumber,
  boundedNumber,
  (random) => ({ schema: z.boolean(), value: () => random() < 0.5 }),
  (random) => ({ schema: z.enum(["a", "b", "abc"]), value: () => pick(random, ["a", "b", "c"]) }),
  (random) => ({ schema: z.literal([1, 2, 5]), value: () => below(random, 4) }),
  (random) => ({ schema: z.literal(["auto", 1]), value: () => pick(random, ["auto", 1, 2, "b"]) }),
  (random) => {
    const text = pick(random, [z.string(), z.string().regex(/^a/), z.literal("auto"), z.enum(["a", "b"])]);
    const whole = pick(random, [z.int(), z.int().min(1), z.int().max(0), z.literal(3)]);
    return {
      schema: z.union(random() < 0.5 ? [text, whole] : [whole, text]),
      value: () => pick(random, ["auto", "a", "abc", "x", -1, 0, 1, 3]),
    };
  },
  (random) => ({
    schema: z.union([z.literal("none"), z.string().regex(/^a/).max(2), z.ipv4()]),
    value: () => pick(random, ["none", "a", "ab", "abc", "10.0.0.1", "x"]),
  }),
  (random) => ({
    schema: z.union([z.int().max(0), z.int().min(3), z.literal(1)]),
    value: () => below(random, 7) - 2,
  }),
];

const containers: readonly [Maker, ...Maker[]] = [
  randomObject,
  randomObject,
  (random, depth) => {
    const item = randomSample(random, depth);
    const list = z.array(item.schema);
    return {
      schema: pick(random, [list, list.min(1), list.max(2), list.length(1)]),
      value: () => Array.from({ length: below(random, 4) }, item.value),
    };
  },
  (random, depth) => {
    const item = randomSample(random, depth);
    return {
      schema: z.record(z.string(), item.schema),
      value: () =>
        Object.fromEntries(["x", "y z", "$ref"].slice(below(random, 4)).map((key) => [key, item.value()])),
    };
  },
  (random, depth) => {
    const item = randomSample(random, depth);
    const keys = z.enum(["x", "y"]);
    return {
      // A record with values that may be undefined accepts missing keys, but its type does not.
      schema:
        random() < 0.5 && !item.schema.safeParse(undefined).success
          ? z.record(keys, item.schema)
          : z.partialRecord(keys, item.schema),
      value: () => Object.fromEntries(["x", "y"].slice(below(random, 3)).map((key) => [key, item.value()])),
    };
  },
  (random) => ({
    schema: z.unknown().meta({ kubernetes: { preserveUnknownFields: true } }),
    value: () => anything(random),
  }),
  variants,
];

function variants(random: Random, depth: number): Sample {
  const [one, other] = [randomSample(random, depth), randomSample(random, depth)].map((sample) =>
    sample.schema.safeParse(undefined).success ? boundedText(random) : sample,
  );
  if (one === undefined || other === undefined) throw new Error("There are two variants.");
  const strict = random() < 0.5;
  const object = strict ? z.strictObject : z.object;
  const schema = z.discriminatedUnion("type", [
    object({ type: z.literal("a"), one: one.schema, both: z.boolean().optional() }),
    object({ type: z.enum(["b", "c"]), other: other.schema.optional(), both: z.boolean().optional() }),
    object({ type: z.literal("d") }),
  ]);
  const own: Readonly<Record<string, string>> = { a: "one both", b: "other both", c: "other both" };
  return {
    schema,
    value: () => {
      const type = pick(random, ["a", "b", "c", "d", "e"]);
      // A field of another variant: zod ignores it in a plain object, and the API server validates it.
      const parts = strict ? "one other both" : (own[type] ?? "");
      const values: Readonly<Record<string, Json>> = { one: one.value(), other: other.value(), both: true };
      const some = Object.entries(values).filter(([name]) => parts.includes(name) && random() < 0.7);
      return { type, ...Object.fromEntries(some) };
    },
  };
}
