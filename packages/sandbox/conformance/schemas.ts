// Short functions for the schemas in the cases.
import type { Json, JsonObject } from "../src/json.ts";

export const text = { type: "string" };
export const whole = { type: "integer" };
/** Keeps unknown fields. */
export const keeps = { "x-kubernetes-preserve-unknown-fields": true };
export const free = { type: "object", ...keeps };
export const embedded = { type: "object", "x-kubernetes-embedded-resource": true };
/** A value that is an integer or a string. */
export const mixed = { "x-kubernetes-int-or-string": true };
/** The two types of such a value, as anyOf. */
export const wholeOrText = [whole, text];
/** Two ways, of which each requires another field. */
export const aOrB = [{ required: ["a"] }, { required: ["b"] }];

/** An object with these fields. */
export const struct = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});
/** An object with these fields in its spec. */
export const ofSpec = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
  struct({ spec: struct(properties, more) });
/** An object with any fields of one schema. */
export const mapOf = (additionalProperties: Json, more: JsonObject = {}): JsonObject => ({
  type: "object",
  additionalProperties,
  ...more,
});
export const list = (items: Json, more: JsonObject = {}): JsonObject => ({ type: "array", items, ...more });
/** A list of a list type. */
export const listOf = (type: string, items: Json, more: JsonObject = {}): JsonObject =>
  list(items, { "x-kubernetes-list-type": type, ...more });
export const set = (items: Json): JsonObject => listOf("set", items);
export const keys = (...names: string[]): JsonObject => ({ "x-kubernetes-list-map-keys": names });
/** A list of items with these keys. */
export const keyedBy = (items: Json, ...names: string[]): JsonObject => listOf("map", items, keys(...names));
