// Schemas that a definition must not have: invalid values of keywords, and keywords in wrong places.
import type { Json, JsonObject } from "../../src/json.ts";
import { definitions, version } from "../fixtures.ts";
import { caseOf, post } from "../steps.ts";
import type { Case } from "../steps.ts";
import {
  aOrB,
  embedded,
  keeps,
  keyedBy,
  keys,
  list,
  listOf,
  mapOf,
  mixed,
  ofSpec,
  set,
  struct,
  text,
  whole,
  wholeOrText,
} from "../schemas.ts";
import { things, withStatus } from "../things.ts";

const rules = (...all: JsonObject[]): JsonObject => ({ ...text, "x-kubernetes-validations": all });

/** Schemas of one field. */
const fields: Readonly<Record<string, Json>> = {
  "an unknown type": { type: "strange" },
  "the type null": { type: "null" },
  "an id": { ...text, id: "x" },
  "a reference": { $ref: "#/definitions/x" },
  definitions: { ...text, definitions: { x: text } },
  dependencies: { type: "object", dependencies: { a: ["b"] } },
  "properties by pattern": { type: "object", patternProperties: { "^a": text } },
  "more items": list(text, { additionalItems: text }),
  "unique items": list(text, { uniqueItems: true }),
  "fields and other fields": { ...struct({ a: text }), additionalProperties: text },
  "fields and any other fields": { ...struct({ a: text }), additionalProperties: true },
  "fields and no other fields": { ...struct({ a: text }), additionalProperties: false },
  "no type": { description: "x" },
  "no type of items": list({}),
  "no type of other fields": mapOf({ description: "x" }),
  "nothing kept": { type: "object", "x-kubernetes-preserve-unknown-fields": false },
  "a map type of a text": { ...text, "x-kubernetes-map-type": "atomic" },
  "an unknown map type": { type: "object", "x-kubernetes-map-type": "strange" },
  "a list type of a text": { ...text, "x-kubernetes-list-type": "atomic" },
  "a list type of no type": { ...mixed, "x-kubernetes-list-type": "atomic" },
  "an unknown list type": listOf("strange", text),
  "a set of lists that are maps": set(keyedBy(struct({ a: text }, { required: ["a"] }), "a")),
  "a set of nulls": set({ ...text, nullable: true }),
  "keys without a map": list(struct({ a: text }), keys("a")),
  "keys of a set": listOf("set", text, keys("a")),
  "a map without keys": listOf("map", struct({ a: text })),
  "a map of texts": keyedBy(text, "a"),
  "a map by a list": keyedBy(struct({ a: list(text) }, { required: ["a"] }), "a"),
  "a map by a key twice": keyedBy(struct({ a: text }, { required: ["a"] }), "a", "a"),
  "a map by a key that may be null": keyedBy(struct({ a: { ...text, nullable: true, default: "x" } }), "a"),
  "a map of nulls": keyedBy(struct({ a: text }, { required: ["a"], nullable: true }), "a"),
  "an embedded text": { ...text, "x-kubernetes-embedded-resource": true },
  "an embedded nothing": { "x-kubernetes-embedded-resource": true, ...keeps },
  "an embedded object without fields": embedded,
  "an embedded object with other fields": { ...embedded, ...keeps, additionalProperties: text },
  "an embedded object in metadata": { ...embedded, properties: { metadata: { ...embedded, ...keeps } } },
  "embedded types": { ...embedded, properties: { kind: whole, apiVersion: whole, metadata: text } },
  "embedded metadata": {
    ...embedded,
    properties: { metadata: struct({ name: text, labels: { type: "object", ...keeps } }) },
  },
  "a mixture that keeps": { ...mixed, ...keeps },
  "a mixture that is embedded": { ...mixed, "x-kubernetes-embedded-resource": true },
  "a mixture any of two": { ...mixed, anyOf: wholeOrText },
  "a mixture any of two, the other way": { ...mixed, anyOf: wholeOrText.toReversed() },
  "a mixture all of": { ...mixed, allOf: [{ anyOf: wholeOrText }, { maxLength: 3 }] },
  "a mixture all of, later": { ...mixed, allOf: [{ maxLength: 3 }, { anyOf: wholeOrText }] },
  "any of two types": { ...text, anyOf: [text, whole] },
  "types in allOf": { type: "object", allOf: [{ type: "object", properties: { b: { type: "string" } } }] },
  "structure in oneOf": {
    ...struct({ b: text }),
    oneOf: [
      { title: "x", description: "y", nullable: true, default: {} },
      {
        properties: {
          b: { "x-kubernetes-list-type": "set", ...keys("a"), "x-kubernetes-map-type": "atomic" },
        },
      },
      { additionalProperties: false },
      { ...keeps, ...mixed, "x-kubernetes-embedded-resource": true },
    ],
  },
  "rules in not": { ...text, not: { "x-kubernetes-validations": [{ rule: "true" }] } },
  "metadata in anyOf": { type: "object", anyOf: [{ properties: { metadata: { required: ["a"] } } }] },
  "unknown parts in anyOf": {
    type: "object",
    anyOf: [{ properties: { b: { minLength: 1 } } }, { items: { minLength: 1 } }],
  },
  "a default of another type": { ...whole, default: "x" },
  "a default with unknown fields": { ...struct({ b: text }), default: { c: 1, b: "x" } },
  "a default without a required field": { ...struct({ b: text }, { required: ["b"] }), default: {} },
  "a default that has defaults": {
    ...struct({ b: { ...text, default: "x" } }, { required: ["b"] }),
    default: {},
  },
  "a default beyond a limit": { ...whole, default: 5, maximum: 4 },
  "a default of one of": { ...text, default: "x", oneOf: [{ minLength: 2 }, { minLength: 3 }] },
  "a default of no enum": { ...text, default: "x", enum: ["y"] },
  "a null by default": { ...text, default: null },
  "a default of items": list({ ...text, default: 1 }),
  "a default of embedded metadata": {
    ...embedded,
    ...keeps,
    default: { apiVersion: "v1", kind: "Pod", metadata: { name: "Bad_Name" } },
  },
  "a rule without a text": rules({ rule: " " }),
  "a rule with an empty message": rules({ rule: "true", message: " " }),
  "a rule with a long message": rules({ rule: "true", message: "a\nb" }),
  "a long rule without a message": rules({ rule: "true &&\ntrue" }),
  "a rule with a strange reason": rules({ rule: "true", reason: "Strange" }),
  "a rule with an empty expression": rules({ rule: "true", messageExpression: " " }),
  "strange formats": { ...text, format: "strange" },
};

/** Schemas of the object. */
const roots: Readonly<Record<string, JsonObject>> = {
  "a root that may be null": struct({ spec: { type: "object" } }, { nullable: true }),
  "a root that is a list": list(text),
  "a root of any": struct({ a: text, b: text }, { anyOf: aOrB }),
  "a root of unknown parts": struct({ a: text }, { allOf: [{ properties: { b: { minLength: 1 } } }] }),
  "a root with an enum": struct({ a: text }, { enum: [{}] }),
  "a root with limits": struct({ a: text }, { minProperties: 1, maxProperties: 9 }),
  "a root with other fields": mapOf(text),
  "a root that is embedded": struct({ a: text }, { "x-kubernetes-embedded-resource": true }),
  "a root that is mixed": { ...mixed },
  "a root with an empty word": struct(
    { a: text },
    { title: "x", description: "y", required: [], format: "" },
  ),
  "a root with types": struct({ kind: whole, apiVersion: { type: "object" } }),
  "a root with a default kind": struct({
    kind: { ...text, default: "Thing" },
    apiVersion: { ...text, default: "x" },
  }),
  "a root with more metadata": struct({ metadata: struct({ labels: { type: "object", ...keeps } }) }),
  "a root with described metadata": struct({ metadata: { type: "object", description: "x" } }),
  "a root with required metadata": struct({ metadata: struct({ name: text }, { required: ["name"] }) }),
  "a root with metadata of a type": struct({ metadata: text }),
  "a root with metadata by default": struct({ metadata: { type: "object", default: {} } }),
  "a root with names by default": struct({ metadata: struct({ name: { ...text, default: "x" } }) }),
};

const refused = (name: string, ...versions: readonly (readonly Json[])[]): Case =>
  caseOf(
    `schema: ${name}`,
    ...versions.map((some) => post(`${definitions}?dryRun=All`, things({ versions: some }))),
  );
const cases = (name: string, schema: JsonObject, more: JsonObject = {}): Case => {
  const [first, second] = [
    version("v1", schema, more),
    version("v2", ofSpec({ a: text }), { storage: false }),
  ];
  // If two versions differ, the error names each.
  return refused(name, [first], [first, second]);
};

export const schemaRefusals: readonly Case[] = [
  ...Object.entries(fields).map(([name, a]) => cases(name, ofSpec({ a }))),
  ...Object.entries(roots).flatMap(([name, schema]) => [
    cases(name, schema),
    cases(`${name}, beside a status`, schema, withStatus),
  ]),
  refused("of two versions that are alike", [
    version("v1", ofSpec({ a: {} })),
    version("v2", ofSpec({ a: {} }), { storage: false }),
  ]),
];
