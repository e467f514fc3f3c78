// Every construct that a CRD can have, with valid values and invalid ones.
import { z } from "zod";
import { durationSchema } from "../duration.ts";
import { checkedAtRun } from "./checks.ts";
import type { Json } from "./schema.ts";

interface Construct {
  readonly schema: z.ZodType;
  readonly good: readonly Json[];
  readonly bad: readonly Json[];
}

const anything = { kubernetes: { preserveUnknownFields: true } } as const;
const listed = z.object({ name: z.string(), port: z.int().optional() });

export const kitchenSink: Readonly<Record<string, Construct>> = {
  text: { schema: z.string().describe("Any text."), good: ["", "é😀"], bad: [1, true, {}, []] },
  bounded: { schema: z.string().min(2).max(3), good: ["ab", "😀😀😀"], bad: ["a", "abcd"] },
  length: { schema: z.string().length(2), good: ["ab"], bad: ["a", "abc"] },
  pattern: { schema: z.string().regex(/^(?:a|b)+[^\]\-\d]\.$/), good: ["abc."], bad: ["c.", "ab1."] },
  patterns: {
    schema: z.string().startsWith("a.").includes("+").endsWith("$"),
    good: ["a.+$"],
    bad: ["a.$", "ab+$"],
  },
  upper: { schema: z.string().uppercase(), good: ["AB-1"], bad: ["Ab"] },
  unicode: { schema: z.string().regex(/^\p{Lu}/u), good: ["Éa"], bad: ["é"] },
  email: { schema: z.email(), good: ["a.b@example.com"], bad: ["a..b@example.com", "a"] },
  uuid: { schema: z.uuid(), good: ["123e4567-e89b-12d3-a456-426614174000"], bad: ["123e4567"] },
  url: { schema: z.url(), good: ["https://example.com/a?b"], bad: ["not a url"] },
  ip: { schema: z.union([z.ipv4(), z.ipv6()]), good: ["10.0.0.1", "::1"], bad: ["10.0.0.256", "a"] },
  cidr: { schema: z.cidrv4(), good: ["10.0.0.0/8"], bad: ["10.0.0.0", "10.0.0.0/33"] },
  mac: { schema: z.mac(), good: ["00:1a:2b:3c:4d:5e"], bad: ["00:1a"] },
  base64: { schema: z.base64(), good: ["YQ==", ""], bad: ["YQ=", "%"] },
  date: { schema: z.iso.date(), good: ["2024-02-29"], bad: ["2023-02-29", "2024-2-1"] },
  time: {
    schema: z.iso.datetime(),
    good: ["2024-02-29T00:00:00Z", "2024-01-01T23:59:59.123456Z"],
    bad: ["2024-01-01", "2024-01-01T24:00:00Z"],
  },
  clock: { schema: z.iso.time(), good: ["23:59"], bad: ["24:00"] },
  template: {
    schema: z.templateLiteral(["v", z.int(), z.enum(["alpha", "beta"])]),
    good: ["v1beta"],
    bad: ["v1", "vbeta"],
  },
  duration: { schema: durationSchema, good: ["1h30m", "500ms", "1.5s"], bad: ["5", "-5s", "", "1e3s"] },
  prime: { schema: z.int().refine((value) => value !== 4, checkedAtRun), good: [2, 3], bad: ["2", 2.5] },
  iban: { schema: z.iban(checkedAtRun).max(34), good: ["DE89370400440532013000"], bad: ["D".repeat(35)] },
  whole: { schema: z.int(), good: [0, -1, 9007199254740991], bad: [1.5, "1"] },
  small: { schema: z.int().min(-1).lt(3), good: [-1, 2], bad: [-2, 3] },
  positive: { schema: z.int().positive(), good: [1, 5e9], bad: [0] },
  int32: { schema: z.int32(), good: [2147483647, -2147483648], bad: [2147483648] },
  uint32: { schema: z.uint32(), good: [4294967295], bad: [-1, 4294967296] },
  bigint: {
    schema: z.bigint(),
    good: [9007199254740993n, 9223372036854775807n, -9223372036854775808n],
    bad: [1.5, "9007199254740993", 9223372036854776000, true],
  },
  uint64: { schema: z.uint64(), good: [9007199254740993n], bad: [-9007199254740993n] },
  boundedBigint: {
    schema: z.bigint().gt(-10n).lt(9007199254740991n).multipleOf(3n).multipleOf(2n),
    good: [],
    bad: [9007199254740996n, -9007199254740996n],
  },
  number: { schema: z.number(), good: [0.1, 5, -1e30], bad: ["1"] },
  ratio: { schema: z.number().gt(0).lte(1), good: [0.01, 1], bad: [0, 1.01] },
  half: { schema: z.number().min(0.5).max(1.5), good: [0.5, 1, 1.5], bad: [0, 0.4, 2] },
  minusHalf: { schema: z.number().min(-1.5).max(-0.5), good: [-1.5, -1, -0.5], bad: [0, -2] },
  insideHalves: { schema: z.number().gt(-1.5).lt(1.5), good: [-1, 1, 1.4], bad: [-1.5, 1.5, 2] },
  outsideHalf: { schema: z.number().gt(0.5), good: [1, 0.6], bad: [0.5, 0] },
  fractions: { schema: z.literal([-0.5, 0.5]), good: [0.5], bad: [0, 1] },
  steps: { schema: z.number().multipleOf(2).multipleOf(3), good: [0, 6], bad: [2, 3] },
  flag: { schema: z.boolean(), good: [true, false], bad: ["true", 0] },
  yes: { schema: z.literal(true), good: [true], bad: [false] },
  choice: { schema: z.enum(["A", "B"]), good: ["A"], bad: ["a", ""] },
  numbers: { schema: z.literal([1, 2.5]), good: [1, 2.5], bad: [2, "1"] },
  autoOrOne: { schema: z.literal(["auto", 1]), good: ["auto", 1], bad: ["1", 2] },
  nullText: { schema: z.string().min(1).nullable(), good: ["a", null], bad: ["", 1] },
  nullChoice: { schema: z.enum(["A"]).nullable(), good: ["A", null], bad: ["B"] },
  nullList: {
    schema: z.array(z.string().nullable()).min(1).nullable(),
    good: [["a", null], null],
    bad: [[], [1]],
  },
  nullObject: { schema: z.object({ a: z.string() }).nullable(), good: [{ a: "" }, null], bad: [{}] },
  port: { schema: z.union([z.int(), z.string()]), good: [1, "http"], bad: [1.5, true, {}] },
  boundedPort: {
    schema: z.union([z.int().min(1), z.string().regex(/^[a-z]+$/)]),
    good: [1, "http"],
    bad: [0, "HTTP"],
  },
  autoOrCount: {
    schema: z.union([z.literal("auto"), z.int().min(1)]),
    good: ["auto", 1],
    bad: [0, "manual", ""],
  },
  nullPort: {
    schema: z.union([z.literal("auto"), z.int().min(1), z.null()]),
    good: ["auto", 1, null],
    bad: [0, "x"],
  },
  wordOrPattern: {
    schema: z.union([z.literal("none"), z.string().regex(/^a/)]),
    good: ["none", "ab"],
    bad: ["b"],
  },
  ranges: { schema: z.union([z.int().max(0), z.int().min(10)]), good: [0, 10], bad: [5] },
  list: { schema: z.array(z.int()).min(1).max(2), good: [[1], [1, 2]], bad: [[], [1, 2, 3], ["1"], 1] },
  lists: { schema: z.array(z.array(z.boolean())), good: [[], [[true]]], bad: [[true]] },
  record: { schema: z.record(z.string(), z.int()), good: [{}, { a: 1, "a b": 2 }], bad: [{ a: "1" }, []] },
  exactRecord: { schema: z.record(z.enum(["x", "y"]), z.int()), good: [{ x: 1, y: 2 }], bad: [{ x: 1 }] },
  partialRecord: {
    schema: z.partialRecord(z.enum(["x", "y"]), z.int()),
    good: [{}, { x: 1 }],
    bad: [{ x: "1" }],
  },
  rulesOfKeys: {
    schema: z
      .record(z.string(), z.string().max(9))
      .refine((tags) => Object.keys(tags).every((key) => /^[a-z]+$/.test(key)), checkedAtRun)
      .meta({ kubernetes: { maxProperties: 9, cel: [{ rule: 'self.all(key, key.matches("^[a-z]+$"))' }] } }),
    good: [{ a: "b" }],
    bad: [{ A: "b" }],
  },
  object: {
    schema: z.object({
      a: z.string(),
      b: z.int().optional(),
      c: z.boolean().default(true),
      $ref: z.string().optional(),
    }),
    good: [{ a: "" }, { a: "", b: 1, c: false, $ref: "x" }],
    bad: [{}, { a: 1 }, { a: "", b: "1" }, "a"],
  },
  strict: { schema: z.strictObject({ a: z.string() }), good: [{ a: "" }], bad: [{}] },
  loose: { schema: z.looseObject({ a: z.string() }), good: [{ a: "", b: [1] }], bad: [{ b: 1 }] },
  deep: {
    schema: z.array(
      z.object({ on: z.array(z.object({ at: z.record(z.string(), z.array(z.int().max(1))) })) }),
    ),
    good: [[{ on: [{ at: { x: [1] } }] }]],
    bad: [[{ on: [{ at: { x: [2] } }] }], [{}]],
  },
  unknown: { schema: z.unknown().meta(anything), good: [1, "a", true, [1], { a: { b: null } }], bad: [] },
  json: { schema: z.json().meta(anything), good: [1, "a", { a: [] }], bad: [] },
  variants: {
    schema: z.discriminatedUnion("type", [
      z.object({ type: z.literal("copy"), from: z.string().min(1), note: z.string().optional() }),
      z.strictObject({ type: z.enum(["new", "empty"]), note: z.string().optional() }),
    ]),
    good: [{ type: "copy", from: "a" }, { type: "new", note: "n" }, { type: "empty" }],
    bad: [{}, { type: "copy" }, { type: "copy", from: "" }, { type: "new", from: "a" }, { type: "old" }],
  },
  variantsByFlag: {
    schema: z
      .discriminatedUnion("on", [
        z.object({ on: z.literal(true), at: z.string() }),
        z.object({ on: z.literal(false) }),
      ])
      .nullable(),
    good: [{ on: true, at: "a" }, { on: false }, null],
    bad: [{ on: true }, { at: "a" }],
  },
  listMap: {
    schema: z
      .array(listed)
      .max(9)
      .meta({ kubernetes: { listType: "map", listMapKeys: ["name"] } }),
    good: [[{ name: "a" }, { name: "b" }]],
    bad: [[{ port: 1 }]],
  },
  listSet: {
    schema: z.array(z.string()).meta({ kubernetes: { listType: "set" } }),
    good: [["a", "b"]],
    bad: [[1]],
  },
  atomic: { schema: listed.meta({ kubernetes: { mapType: "atomic" } }), good: [{ name: "a" }], bad: [{}] },
  ordered: {
    schema: z
      .object({ least: z.int(), most: z.int() })
      .refine(({ least, most }) => least <= most, checkedAtRun)
      .meta({
        kubernetes: { cel: [{ rule: "self.least <= self.most", message: "least is more than most" }] },
      }),
    good: [{ least: 1, most: 1 }],
    bad: [{ least: 2, most: 1 }],
  },
  branded: { schema: z.string().min(1).brand("Name").readonly(), good: ["a"], bad: [""] },
};
