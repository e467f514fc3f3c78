// Structural schemas in few words, for the kinds that the server itself describes.
import type { Json, JsonObject } from "../json.ts";

export const string: JsonObject = { type: "string" };
export const integer: JsonObject = { type: "integer" };
export const boolean: JsonObject = { type: "boolean" };
/** A moment, as Go itself decodes it: a text and nothing else. */
export const time: JsonObject = { ...string, format: "date-time", "x-drover-decoded": true };
/** Anything that the sandbox stores without looking at it. */
export const anyObject: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

export const fields = (
  properties: Readonly<Record<string, Json>>,
  required: readonly string[] = [],
): JsonObject => ({
  type: "object",
  properties,
  required,
});
export const mapOf = (additionalProperties: Json): JsonObject => ({ type: "object", additionalProperties });
export const listOf = (items: Json): JsonObject => ({ type: "array", items });
/** These fields, and others that the sandbox stores without looking at them. */
export const knowing = (properties: Readonly<Record<string, Json>>): JsonObject => ({
  ...anyObject,
  properties,
});
/** What is in every object of its kind, empty or not, as a Go struct that is no pointer. */
export const always = (schema: JsonObject): JsonObject => or(schema, {});
/** The schema, with a value for where nothing is given; null as a default makes it nullable. */
export const or = (schema: JsonObject, value: Json): JsonObject => ({
  ...schema,
  default: value,
  nullable: value === null,
});
/** One schema for several fields, named with spaces between. */
export const each = (names: string, schema: JsonObject): JsonObject =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));
export const strings = (names: string): JsonObject => each(names, string);

/** A field that is left out when it is empty, or zero: one of Go's that is `omitempty` and no pointer. */
export const omitted = (schema: JsonObject): JsonObject => ({ ...schema, "x-omitempty": true });
