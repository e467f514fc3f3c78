// Short functions for structural schemas, for the built-in kinds.
import type { Json, JsonObject } from "../json.ts";

export const string: JsonObject = { type: "string" };
export const integer: JsonObject = { type: "integer" };
export const boolean: JsonObject = { type: "boolean" };
/** A time that Go itself decodes: only a text is accepted. */
export const time: JsonObject = { ...string, format: "date-time", "x-drover-decoded": true };
/** An object that the sandbox stores without checks. */
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
/** An object with these fields, and others that the sandbox stores without checks. */
export const openObject = (properties: Readonly<Record<string, Json>>): JsonObject => ({
  ...anyObject,
  properties,
});
/** A field of every object of its kind, even if it is empty: in Go, a struct without a pointer. */
export const alwaysPresent = (schema: JsonObject): JsonObject => withDefault(schema, {});
/** The schema with a default; null as a default makes it nullable. */
export const withDefault = (schema: JsonObject, value: Json): JsonObject => ({
  ...schema,
  default: value,
  nullable: value === null,
});
/** One schema for several fields; spaces separate their names. */
export const each = (names: string, schema: JsonObject): JsonObject =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));
export const strings = (names: string): JsonObject => each(names, string);

/** A field that is left out if it is empty or zero: in Go, a field with `omitempty` without a pointer. */
export const omitEmpty = (schema: JsonObject): JsonObject => ({ ...schema, "x-omitempty": true });
