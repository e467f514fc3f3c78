// A custom resource that its definition no longer accepts may still be changed elsewhere: an update reports no errors
// of values that it does not change (apiextensions-apiserver, CRDValidationRatcheting).
import { equal, field, isArray, isObject, sortedJson, textsAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

/** The previous value, and its schema, which identifies the items of lists. */
export interface Before {
  readonly value: Json;
  readonly schema: Json | undefined;
}

/** The schema of a field; undefined if the schema does not name it. */
function schemaOf(schema: Json | undefined, key: string): JsonObject | undefined {
  const found = field(schema, "properties", key) ?? field(schema, "additionalProperties");
  return isObject(found) ? found : undefined;
}

/** The previous value of a field; undefined for the apiVersion and the kind of the object. */
export function keptField(before: Before | undefined, key: string, path: string): Before | undefined {
  const [value, schema] = [field(before?.value, key), schemaOf(before?.schema, key)];
  if (value === undefined || schema === undefined) return undefined;
  return path === "" && (key === "apiVersion" || key === "kind") ? undefined : { value, schema };
}

/** The identity of an item of a list, if its keys have values. */
function identity(item: Json, keys: readonly string[]): string | undefined {
  const values = keys.map((key) => field(item, key));
  const isTold = values.every((one) => ["string", "number", "boolean"].includes(typeof one));
  return isTold ? sortedJson(values.map((one) => one ?? null)) : undefined;
}

/** The previous value of an item, in a list of items with keys. */
export function keptItem(before: Before | undefined, item: Json): Before | undefined {
  const [schema, keys] = [
    field(before?.schema, "items"),
    textsAt(before?.schema, "x-kubernetes-list-map-keys"),
  ];
  if (field(before?.schema, "x-kubernetes-list-type") !== "map" || !isArray(before?.value)) return undefined;
  const own = identity(item, keys);
  const value = before.value.find((one) => own !== undefined && identity(one, keys) === own);
  return value === undefined ? undefined : { value, schema };
}

/** True if a value has not changed. Items with keys may have changed places. */
export function isKept(value: Json, before: Before | undefined): boolean {
  if (!before || value === null || before.value === null) return before?.value === value;
  if (isArray(value) && isArray(before.value)) {
    if (field(before.schema, "x-kubernetes-list-type") !== "map") return equal(value, before.value);
    return (
      value.length === before.value.length && value.every((item) => isKept(item, keptItem(before, item)))
    );
  }
  if (!isObject(value) || !isObject(before.value)) return equal(value, before.value);
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(before.value).length &&
    keys.every((key) => isKept(value[key] ?? null, keptField(before, key, "*")))
  );
}
