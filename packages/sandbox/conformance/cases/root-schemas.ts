// Schemas of objects with a status subresource: each definition with valid and invalid objects, and with statuses that
// are written afterwards.
import type { Json, JsonObject } from "../../src/json.ts";
import { version } from "../fixtures.ts";
import { caseOf, get, named, object, patch, post, put } from "../steps.ts";
import type { Case, Step } from "../steps.ts";
import { apiVersion, inHome, made, text, whole } from "../things.ts";

const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const struct = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});
const ofSpec = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ spec: struct(properties, more) });
const ofNames = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ metadata: struct(properties), spec: free }, more);
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "array", items, ...more });
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
      status: struct(
        { x: text, n: whole, m: { type: "object", additionalProperties: whole } },
        { required: ["x"] },
      ),
    }),
    { a: {} },
    [{}, { x: 1, n: "y" }, { x: "x", m: { a: "b" } }, { x: "x", y: 1 }, "x", []],
  ],
  "a status that is a map": [
    struct({ status: { type: "object", additionalProperties: whole, maxProperties: 1 } }),
    { a: {} },
    [{ a: "x" }, { a: 1, b: 2 }, { a: 1 }],
  ],
  "a status of one of two shapes": [
    struct({ status: struct({ a: text, b: text }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }) }),
    { a: {} },
    [{}, { a: "1", b: "2" }, { b: "2" }],
  ],
  "a whole that keeps all": [free, { a: { x: 1, spec: null, status: { y: 1 } } }, [{ z: 1 }]],
  "a spec by default": [
    struct({ spec: struct({ a: text, c: { ...whole, default: 3 } }, { default: { a: "b" } }) }),
    { a: {}, b: { spec: {} }, c: { spec: null } },
  ],
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
    {
      a: { spec: { half: 0.75 } },
      b: { spec: { half: 3 } },
      c: { spec: { more: 1 } },
      d: { spec: { most: 1000001 } },
      e: { spec: { most: 2000000.25 } },
      f: { spec: { least: 0 } },
      g: { spec: { odd: 2 } },
      h: { spec: { big: 2147483648 } },
      i: { spec: { one: 1.5 } },
      j: { spec: { one: 3 } },
      k: { spec: { least: 0.00001 } },
      l: { spec: { more: 1.0000000001, half: 1e-7 } },
    },
  ],
  texts: [
    ofSpec({ a: { ...text, minLength: 2, maxLength: 3, pattern: "^x" }, b: { ...text, enum: ["<", "&"] } }),
    { a: { spec: { a: "yyyy" } }, b: { spec: { a: "y" } }, c: { spec: { b: "<&>\u2028" } } },
  ],
  "sizes of lists and maps": [
    ofSpec({
      a: list(text, { minItems: 1, maxItems: 2 }),
      b: { type: "object", additionalProperties: text, minProperties: 1, maxProperties: 1 },
    }),
    {
      a: { spec: { a: [], b: {} } },
      b: { spec: { a: ["x", "y", "z"], b: { x: "1", y: "2" } } },
      c: { spec: { a: [null], b: { x: null } } },
    },
  ],
  "nulls and enums": [
    ofSpec({
      a: { ...text, nullable: true, enum: ["x"] },
      b: { ...text, nullable: true, default: "x" },
      c: { ...text, default: "y" },
      d: struct({ e: { ...text, default: "z" } }),
      f: list({ ...text, nullable: true }),
    }),
    {
      a: { spec: { a: null } },
      b: { spec: { b: null, c: null, d: null } },
      c: { spec: { d: {}, f: [null] } },
    },
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
    {
      a: { spec: { a: "1" } },
      b: { spec: { a: "1", b: "222", n: 4 } },
      c: { spec: { n: 1 } },
      d: { spec: { a: "1", c: "3", n: 9 } },
      e: { spec: { b: "2", n: 1 } },
    },
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
    {
      a: { spec: {} },
      b: { spec: { a: "1" } },
      c: { spec: { n: 9, a: "1" } },
      d: { spec: { b: "1", n: 1 } },
    },
  ],
  "all of some": [
    ofSpec(
      { a: text, b: text, n: whole },
      { allOf: [{ required: ["a"] }, { required: ["b"] }, { properties: { n: { enum: [1, 2] } } }] },
    ),
    { a: { spec: {} }, b: { spec: { a: "1", n: 3 } }, c: { spec: { a: "1", b: "2", n: 1 } } },
  ],
  "whole numbers or texts": [
    ofSpec({
      p: {
        "x-kubernetes-int-or-string": true,
        anyOf: [{ type: "integer" }, { type: "string" }],
        pattern: "^[0-9]+%?$",
        maximum: 5,
        format: "hostname",
      },
      q: {
        "x-kubernetes-int-or-string": true,
        allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { maxLength: 2 }],
      },
    }),
    {
      a: { spec: { p: 5 } },
      b: { spec: { p: "5%", q: "abc" } },
      c: { spec: { p: "x" } },
      d: { spec: { p: 1.5 } },
      e: { spec: { p: true, q: [] } },
      f: { spec: { p: 6 } },
    },
  ],
  "lists by two keys": [
    ofSpec({
      l: list(struct({ n: text, p: { ...text, default: "TCP" } }, { required: ["n"] }), {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n", "p"],
      }),
      m: {
        type: "object",
        additionalProperties: list(text, { "x-kubernetes-list-type": "set" }),
      },
    }),
    {
      a: { spec: { l: [{ n: "a" }, { n: "a", p: "UDP" }] } },
      b: { spec: { l: [{ n: "<" }, { n: "<", p: "TCP" }] } },
      c: { spec: { l: [{}, {}] } },
      d: { spec: { m: { x: ["a", "a"] } } },
      e: { spec: { l: ["x"] } },
    },
  ],
  "sets of objects": [
    ofSpec({
      s: list(
        { ...struct({ a: text, b: text }), "x-kubernetes-map-type": "atomic" },
        { "x-kubernetes-list-type": "set" },
      ),
    }),
    {
      a: {
        spec: {
          s: [
            { a: "1", b: "2" },
            { b: "2", a: "1" },
          ],
        },
      },
      b: { spec: { s: [null, null] } },
    },
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
  ...made({
    versions: [
      version(
        "v1",
        ofSpec({
          none: { type: "object", additionalProperties: false },
          any: { type: "object", additionalProperties: true },
          free,
        }),
      ),
    ],
  }),
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
  ...Object.entries(table).map(([name, [schema, objects, statuses = []]]) =>
    caseOf(
      name,
      ...made({
        versions: [version("v1", schema, { subresources: { status: {} } })],
      }),
      ...Object.entries(objects).flatMap(([one, more]) => stepsOf(one, more, statuses)),
    ),
  ),
];
