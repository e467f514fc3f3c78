// What happens to an object before it is validated: unknown fields go, defaults come, nulls that mean nothing go.
import { field, isArray, isObject, listAt, objectAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

const keepsUnknown = (schema: Json | undefined): boolean =>
  field(schema, "x-kubernetes-preserve-unknown-fields") === true;
const schemaOfProperty = (schema: Json | undefined, key: string): Json | undefined => {
  const known = field(schema, "properties", key);
  const others = field(schema, "additionalProperties");
  return known ?? (others === false ? undefined : others);
};

/** Fields that every embedded resource has, whether or not its schema says so. */
const typeMeta = new Set(["apiVersion", "kind", "metadata"]);

/**
 * The value without the fields that the structural schema does not know; each one's path is added to `unknown`.
 * Values of the wrong type are left for the validation to refuse.
 */
export function pruned(value: Json, schema: Json | undefined, path: string, unknown: string[]): Json {
  if (isArray(value)) {
    const items = field(schema, "items");
    if (items === undefined && keepsUnknown(schema)) return value;
    return value.map((item, i) => pruned(item, items, `${path}[${i}]`, unknown));
  }
  if (!isObject(value)) return value;
  const embedded = field(schema, "x-kubernetes-embedded-resource") === true;
  const kept = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    const at = path === "" ? key : `${path}.${key}`;
    const known = schemaOfProperty(schema, key);
    if (known === true || (embedded && typeMeta.has(key))) return [[key, inner]];
    if (known !== undefined) return [[key, pruned(inner, known, at, unknown)]];
    if (keepsUnknown(schema)) return [[key, inner]];
    unknown.push(at);
    return [];
  });
  return Object.fromEntries(kept);
}

const meaninglessNull = (value: Json | undefined, schema: Json | undefined): boolean =>
  value === null && isObject(schema) && field(schema, "nullable") !== true;

/**
 * The value with defaults where nothing, or a null that is not nullable, stands; other such nulls are dropped, or kept
 * for the validation to refuse.
 */
export function defaulted(value: Json, schema: Json | undefined, keepNulls = false): Json {
  if (isArray(value)) return value.map((item) => defaulted(item, field(schema, "items"), keepNulls));
  if (!isObject(value) || !isObject(schema)) return value;
  const missing = Object.entries(objectAt(schema, "properties")).flatMap(([key, of]): [string, Json][] => {
    const byDefault = field(of, "default");
    const absent = !Object.hasOwn(value, key) || meaninglessNull(value[key], of);
    return byDefault !== undefined && absent ? [[key, byDefault]] : [];
  });
  const complete: JsonObject = { ...value, ...Object.fromEntries(missing) };
  return Object.fromEntries(
    Object.entries(complete).flatMap(([key, inner]): [string, Json][] => {
      const of = schemaOfProperty(schema, key);
      if (!keepNulls && meaninglessNull(inner, of)) return [];
      return [[key, defaulted(inner, of, keepNulls)]];
    }),
  );
}

/** Duplicates that `x-kubernetes-list-type` forbids: [path, value] of each later one. */
export function repeatedItems(value: Json, schema: Json | undefined, path: string): [string, Json][] {
  if (isArray(value)) {
    const seen = new Set<string>();
    const keys = listAt(schema, "x-kubernetes-list-map-keys").map(String);
    const kind = field(schema, "x-kubernetes-list-type");
    return value.flatMap((item, i) => {
      const identity =
        kind === "map" ? Object.fromEntries(keys.map((key) => [key, field(item, key) ?? null])) : item;
      const text = JSON.stringify(identity);
      const again = (kind === "map" || kind === "set") && seen.has(text);
      seen.add(text);
      const own: [string, Json][] = again ? [[`${path}[${i}]`, identity]] : [];
      return [...own, ...repeatedItems(item, field(schema, "items"), `${path}[${i}]`)];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    repeatedItems(inner, schemaOfProperty(schema, key), path === "" ? key : `${path}.${key}`),
  );
}
