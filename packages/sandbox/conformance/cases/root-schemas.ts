// Schemas of objects with a status subresource: each definition with valid and invalid objects, and with statuses that
// are written afterwards.
import type { Json, JsonObject } from "../../src/json.ts";
import { caseOf, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";
import {
  aOrB,
  free,
  keyedBy,
  list,
  mapOf,
  mixed,
  ofSpec,
  set,
  struct,
  text,
  whole,
  wholeOrText,
} from "../schemas.ts";
import { apiVersion, inHome, madeWith, withStatus } from "../things.ts";

const ofNames = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ metadata: struct(properties), spec: free }, more);
const rule = { "x-kubernetes-validations": [{ rule: "true" }] };

/** A schema; the content of objects by their names; and statuses. */
type Table = Readonly<
  Record<string, readonly [JsonObject, Readonly<Record<string, JsonObject>>, (readonly Json[])?]>
>;

const table: Table = {
  "metadata that is required": [
    struct({ metadata: { type: "object" }, spec: free }, { required: ["metadata", "spec"] }),
    { a: { spec: {} }, b: {} },
  ],
  "types that are required": [
    struct(
      { apiVersion: text, kind: text, metadata: { type: "object" } },
      { required: ["apiVersion", "kind"] },
    ),
    { a: {} },
  ],
  "long names": [ofNames({ name: { ...text, maxLength: 5 } }), { abc: {}, abcdefgh: {} }],
  "names of a pattern": [
    ofNames({ name: { ...text, pattern: "^db-" }, generateName: { ...text, maxLength: 3 } }),
    { "db-a": {}, x: {}, "db-b": { metadata: { name: "db-b", generateName: "db-long-" } } },
  ],
  "a kind of an enum": [struct({ kind: { ...text, enum: ["Thing"] }, spec: free }), { a: {} }],
  "another kind of an enum": [struct({ kind: { ...text, enum: ["Other"] }, spec: free }), { a: {} }],
  "a required status": [
    struct({ spec: free, status: struct({ a: text }) }, { required: ["spec", "status"] }),
    { a: { spec: {} }, b: { spec: {}, status: { a: "x" } } },
    [{ a: "x" }, { a: 1 }, null],
  ],
  "a status by default": [
    struct({ spec: free, status: struct({ phase: text }, { default: { phase: "Pending" } }) }),
    { a: { spec: {} } },
    [{}, { phase: "x" }, null],
  ],
  "a status with required fields": [
    struct({
      status: struct({ x: text, n: whole, m: mapOf(whole) }, { required: ["x"] }),
    }),
    { a: {} },
    [{}, { x: 1, n: "y" }, { x: "x", m: { a: "b" } }, { x: "x", y: 1 }, "x", []],
  ],
  "a status that is a map": [
    struct({ status: mapOf(whole, { maxProperties: 1 }) }),
    { a: {} },
    [{ a: "x" }, { a: 1, b: 2 }, { a: 1 }],
  ],
  "a status of one of two shapes": [
    struct({ status: struct({ a: text, b: text }, { oneOf: aOrB }) }),
    { a: {} },
    [{}, { a: "1", b: "2" }, { b: "2" }],
  ],
  "a whole that keeps all": [free, { a: { x: 1, spec: null, status: { y: 1 } } }, [{ z: 1 }]],
  "a spec by default": [
    struct({ spec: struct({ a: text, c: { ...whole, default: 3 } }, { default: { a: "b" } }) }),
    { a: {}, b: { spec: {} }, c: { spec: null } },
  ],
  "rules that are not looked at": [
    ofSpec({ a: { ...text, maxLength: 1 }, n: { ...whole, maximum: 1 } }, { required: ["a"], ...rule }),
    {
      a: { spec: {} },
      b: { spec: { a: "xx" } },
      c: { spec: { a: "x", n: 2 } },
      d: { spec: { a: "x" } },
      E_: { spec: {} },
    },
  ],
};

/** Schemas of a spec, and the specs of objects. */
const specs: Readonly<Record<string, readonly [JsonObject, readonly JsonObject[]]>> = {
  numbers: [
    ofSpec({
      half: { type: "number", multipleOf: 0.5 },
      more: { ...whole, minimum: 1, exclusiveMinimum: true },
      most: { type: "number", maximum: 1000000.5 },
      least: { type: "number", minimum: 0.5 },
      odd: { ...whole, maximum: 1.5, format: "int32" },
      big: { ...whole, format: "int32", maximum: 3000000000 },
      one: { type: "number", enum: [1, 2.5] },
    }),
    [
      { half: 0.75 },
      { half: 3 },
      { more: 1 },
      { most: 1000001 },
      { most: 2000000.25 },
      { least: 0 },
      { odd: 2 },
      { big: 2147483648 },
      { one: 1.5 },
      { one: 3 },
      { least: 0.00001 },
      { more: 1.0000000001, half: 1e-7 },
    ],
  ],
  texts: [
    ofSpec({ a: { ...text, minLength: 2, maxLength: 3, pattern: "^x" }, b: { ...text, enum: ["<", "&"] } }),
    [{ a: "yyyy" }, { a: "y" }, { b: "<&>\u2028" }],
  ],
  "sizes of lists and maps": [
    ofSpec({
      a: list(text, { minItems: 1, maxItems: 2 }),
      b: mapOf(text, { minProperties: 1, maxProperties: 1 }),
    }),
    [
      { a: [], b: {} },
      { a: ["x", "y", "z"], b: { x: "1", y: "2" } },
      { a: [null], b: { x: null } },
    ],
  ],
  "nulls and enums": [
    ofSpec({
      a: { ...text, nullable: true, enum: ["x"] },
      b: { ...text, nullable: true, default: "x" },
      c: { ...text, default: "y" },
      d: struct({ e: { ...text, default: "z" } }),
      f: list({ ...text, nullable: true }),
    }),
    [{ a: null }, { b: null, c: null, d: null }, { d: {}, f: [null] }],
  ],
  "one of two, and not a third": [
    ofSpec(
      { a: text, b: text, c: text, n: whole },
      {
        oneOf: [
          { required: ["a"], properties: { n: { maximum: 5 } } },
          { required: ["b"], properties: { n: { minimum: 3 }, b: { minLength: 3 } } },
        ],
        not: { required: ["c"] },
      },
    ),
    [{ a: "1" }, { a: "1", b: "222", n: 4 }, { n: 1 }, { a: "1", c: "3", n: 9 }, { b: "2", n: 1 }],
  ],
  "any of three": [
    ofSpec(
      { a: text, b: text, n: whole },
      {
        anyOf: [
          { required: ["a", "n"], properties: { n: { maximum: 5 } } },
          { required: ["b"], properties: { n: { minimum: 3 } } },
          { required: ["a", "b"] },
        ],
      },
    ),
    [{}, { a: "1" }, { n: 9, a: "1" }, { b: "1", n: 1 }],
  ],
  "all of some": [
    ofSpec(
      { a: text, b: text, n: whole },
      { allOf: [{ required: ["a"] }, { required: ["b"] }, { properties: { n: { enum: [1, 2] } } }] },
    ),
    [{}, { a: "1", n: 3 }, { a: "1", b: "2", n: 1 }],
  ],
  "whole numbers or texts": [
    ofSpec({
      p: { ...mixed, anyOf: wholeOrText, pattern: "^[0-9]+%?$", maximum: 5, format: "hostname" },
      q: { ...mixed, allOf: [{ anyOf: wholeOrText }, { maxLength: 2 }] },
    }),
    [{ p: 5 }, { p: "5%", q: "abc" }, { p: "x" }, { p: 1.5 }, { p: true, q: [] }, { p: 6 }],
  ],
  "lists by two keys": [
    ofSpec({
      l: keyedBy(struct({ n: text, p: { ...text, default: "TCP" } }, { required: ["n"] }), "n", "p"),
      m: mapOf(set(text)),
    }),
    [
      { l: [{ n: "a" }, { n: "a", p: "UDP" }] },
      { l: [{ n: "<" }, { n: "<", p: "TCP" }] },
      { l: [{}, {}] },
      { m: { x: ["a", "a"] } },
      { l: ["x"] },
    ],
  ],
  "sets of objects": [
    ofSpec({ s: set(struct({ a: text, b: text }, { "x-kubernetes-map-type": "atomic" })) }),
    [
      {
        s: [
          { a: "1", b: "2" },
          { b: "2", a: "1" },
        ],
      },
      { s: [null, null] },
    ],
  ],
};

/** The same, as objects with one letter each for a name. */
const bySpec: Table = Object.fromEntries(
  Object.entries(specs).map(([name, [schema, given]]) => [
    name,
    [schema, Object.fromEntries(given.map((spec, i) => ["abcdefghijkl".charAt(i), { spec }]))],
  ]),
);

function stepsOf(name: string, more: JsonObject, statuses: readonly Json[]): Step[] {
  const at = `${inHome()}/${name}`;
  const body = object(apiVersion, "Thing", name, more);
  return [
    post(`${inHome()}?fieldManager=m`, { ...body, ...more }),
    ...statuses.map((status) => put(`${at}/status`, { ...body, status })),
    named(name, get(at)),
    ...statuses.flatMap((status) => [
      put(`${at}/status`, {
        ...object(apiVersion, "Thing", name, {}, { resourceVersion: `<${name}.metadata.resourceVersion>` }),
        status,
      }),
      patch(`${at}/status`, { status }),
      named(name, get(at)),
    ]),
  ];
}

/** Other fields without a schema: they are kept or refused, and their content is lost. */
const others: Case = caseOf(
  "other fields of no schema",
  ...madeWith(ofSpec({ none: mapOf(false), any: mapOf(true), free })),
  ...[
    { none: { x: 1 } },
    { any: { x: { y: 1 }, z: [{ a: 1 }], n: null } },
    { free: { x: { y: 1 }, z: [{ a: 1 }], n: null } },
  ].map((spec, i) =>
    post(`${inHome()}?fieldValidation=Strict`, object(apiVersion, "Thing", `t${i}`, { spec })),
  ),
  ...["t0", "t1", "t2"].map((name) =>
    post(inHome(), object(apiVersion, "Thing", name, { spec: { any: { x: { y: 1 } } } })),
  ),
);

export const rootSchemas: readonly Case[] = [
  others,
  ...Object.entries({ ...table, ...bySpec }).map(([name, [schema, objects, statuses = []]]) =>
    caseOf(
      name,
      ...madeWith(schema, withStatus),
      ...Object.entries(objects).flatMap(([one, more]) => stepsOf(one, more, statuses)),
    ),
  ),
];
