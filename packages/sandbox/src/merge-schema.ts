// What a structural schema means for merging: which maps and lists are one value, and what tells items of a list apart.
// The rules are those of kube-openapi's schemaconv and of structured-merge-diff.
import { writeJson } from "@drover/json";
import { metadataSchema } from "./object-metadata.ts";
import { field, isArray, isObject, textAt, textsAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { ResourceType } from "./resource-type.ts";
import { string } from "./schema-words.ts";

/** A place in a schema; without one, what holds is deduced from the data: maps by field, lists as a whole. */
export interface MergeSchema {
  readonly schema: JsonObject | undefined;
  /** Fields that the schema does not name are allowed: said here or further up. */
  readonly open: boolean;
}

const deduced: MergeSchema = { schema: undefined, open: true };
const at = (schema: Json | undefined, { open }: MergeSchema): MergeSchema => ({
  schema: isObject(schema) ? schema : undefined,
  open: open || field(schema, "x-kubernetes-preserve-unknown-fields") === true,
});

/** How a value merges: as a whole, by field, or by item (told apart by these keys; without any, a set). */
export type Merging = "whole" | "map" | "list";

export function mergingOf({ schema }: MergeSchema, value: Json | undefined): Merging {
  const type = textAt(schema, "type");
  if (type === "array" || (type === undefined && isArray(value)))
    return ["map", "set"].includes(textAt(schema, "x-kubernetes-list-type") ?? "") ? "list" : "whole";
  if (type === "object" || (type === undefined && isObject(value)))
    return textAt(schema, "x-kubernetes-map-type") === "atomic" ? "whole" : "map";
  return "whole";
}

const typeMeta = { apiVersion: string, kind: string, metadata: metadataSchema };
const named = ({ schema }: MergeSchema, name: string): Json | undefined =>
  field(schema, "properties", name) ??
  (field(schema, "x-kubernetes-embedded-resource") === true ? field(typeMeta, name) : undefined);

/** Whether the schema names this field of a map, as opposed to one of any name. */
export const isNamed = (parent: MergeSchema, name: string): boolean => named(parent, name) !== undefined;

/** The schema of a map's field, or undefined where there can be none. */
export function schemaOfField(parent: MergeSchema, name: string): MergeSchema | undefined {
  const found = field(parent.schema, "properties", name);
  if (found !== undefined) return at(found, parent);
  const implied = named(parent, name);
  if (implied !== undefined) return at(implied, { schema: undefined, open: false });
  const others = field(parent.schema, "additionalProperties");
  if (isObject(others)) return at(others, parent);
  if (others === false) return undefined;
  const free = parent.open || others === true || field(parent.schema, "properties") === undefined;
  return free ? deduced : undefined;
}

export const schemaOfItem = (list: MergeSchema): MergeSchema => at(field(list.schema, "items"), list);

/** The path element of a list's item, or what is wrong with it. */
export function elementOfItem({ schema }: MergeSchema, item: Json): { element: string } | { fault: string } {
  const keys = [...textsAt(schema, "x-kubernetes-list-map-keys")].sort();
  if (keys.length === 0) {
    if (item === null)
      return { fault: "associative list without keys has an element that's an explicit null" };
    if (isObject(item)) return { fault: "associative list without keys has an element that's a map type" };
    if (isArray(item)) return { fault: "not supported: associative list with lists as elements" };
    return { element: `v:${writeJson(item)}` };
  }
  if (item === null) return { fault: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { fault: "associative list with keys may not have non-map elements" };
  const given = keys.flatMap((key): [string, Json][] => {
    const own = field(item, key);
    const value = own === undefined ? field(schema, "items", "properties", key, "default") : own;
    return value === undefined ? [] : [[key, value]];
  });
  if (given.length > 0) return { element: `k:${writeJson(Object.fromEntries(given))}` };
  const told = textsAt(schema, "x-kubernetes-list-map-keys").map((key) => JSON.stringify(key));
  return {
    fault: `associative list with keys has an element that omits all key fields [${told.join(" ")}] (and doesn't have default values for any key fields)`,
  };
}

const known = new WeakMap<ResourceType, MergeSchema>();

/** The schema of whole objects of a type, with their metadata. */
export function mergeSchemaOf(type: ResourceType): MergeSchema {
  const found = known.get(type);
  if (found) return found;
  const properties = field(type.schema, "properties");
  const schema = { ...type.schema, properties: { ...(isObject(properties) ? properties : {}), ...typeMeta } };
  const made = at(schema, { schema: undefined, open: false });
  known.set(type, made);
  return made;
}
