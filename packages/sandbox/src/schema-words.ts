// Structural schemas in few words, for the kinds that the server itself describes.
import type { Json, JsonObject } from "./json.ts";

export const string: JsonObject = { type: "string" };
export const integer: JsonObject = { type: "integer" };
export const boolean: JsonObject = { type: "boolean" };
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
