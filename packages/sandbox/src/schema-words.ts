// Structural schemas in few words, for the kinds that the server itself describes.
import type { Json, JsonObject } from "./json.ts";

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
export const always = (schema: JsonObject): JsonObject => ({ ...or(schema, {}), "x-drover-always": true });
/** Items are told apart by these of their fields, named with spaces between; appliers share the list. */
export const listBy = (keys: string, items: Json): JsonObject => ({
  ...listOf(items),
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys.split(" "),
});
export const setOf = (items: Json): JsonObject => ({ ...listOf(items), "x-kubernetes-list-type": "set" });
/** A map that has one owner as a whole. */
export const atomic = (schema: JsonObject): JsonObject => ({ ...schema, "x-kubernetes-map-type": "atomic" });
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

/** A condition as newer kinds have it (meta/v1). */
export const apiCondition = fields({
  ...each("type status reason message", or(string, "")),
  lastTransitionTime: or(time, null),
  observedGeneration: { ...integer, "x-omitempty": true },
});

/** A field that is left out when it is empty, or zero: one of Go's that is `omitempty` and no pointer. */
export const omitted = (schema: JsonObject): JsonObject => ({ ...schema, "x-omitempty": true });
export const intOrString: JsonObject = { "x-kubernetes-int-or-string": true };
/** An amount such as 100m or 1Gi, which is a text once it is stored. */
export const quantity: JsonObject = { ...intOrString, "x-quantity": true };

const plain = {
  text: omitted(string),
  /** Texts that stay when they are empty. */
  kept: string,
  texts: listOf(string),
  flag: omitted(boolean),
  boolean,
  number: omitted(integer),
  integer,
  map: mapOf(string),
  port: intOrString,
  quantities: mapOf(quantity),
  any: anyObject,
  anys: listOf(anyObject),
} satisfies Record<string, JsonObject>;

/** A struct: its plain fields by sort, named with spaces between, and the others by name. */
export const struct = (
  sorts: Readonly<Partial<Record<keyof typeof plain, string>>>,
  others: Readonly<Record<string, Json>> = {},
): JsonObject => fields({ ...plainFields(sorts), ...others });

function plainFields(sorts: Readonly<Partial<Record<string, string>>>): JsonObject {
  return Object.entries(plain).reduce<JsonObject>((all, [sort, schema]) => {
    const names = sorts[sort];
    return names === undefined ? all : { ...all, ...each(names, schema) };
  }, {});
}

const labelRequirement = struct({ text: "key operator", texts: "values" });
export const labelSelector = atomic(
  fields({ matchLabels: mapOf(string), matchExpressions: listOf(labelRequirement) }),
);
