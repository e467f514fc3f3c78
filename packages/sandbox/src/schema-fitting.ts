// What happens to an object before it is validated: unknown fields go, defaults come, nulls that mean nothing go.
import { writeJson } from "@drover/json";
import { field, isArray, isNumber, isObject, listAt, objectAt } from "./json.ts";
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

const isEmpty = (value: Json, schema: Json | undefined): boolean => {
  const [type, values] = [field(schema, "type"), field(schema, "additionalProperties")];
  if (isArray(value)) return type === "array" && value.length === 0;
  if (isObject(value)) return values !== undefined && Object.keys(value).length === 0;
  return field(schema, "x-omitempty") === true && (value === "" || value === 0 || value === false);
};

/** What Go makes of a null in a map or a list. */
const zeroes: ReadonlyMap<Json | undefined, Json> = new Map<Json, Json>([
  ["string", ""],
  ["integer", 0],
  ["number", 0],
  ["boolean", false],
  ["array", []],
]);
const zero = (schema: Json | undefined): Json => zeroes.get(field(schema, "type")) ?? {};

/** The value of a built-in kind without what Go leaves out: empty maps and lists, and what is marked so. */
export function withoutEmpty(value: Json, schema: Json | undefined): Json {
  if (isArray(value)) {
    const items = field(schema, "items");
    return value.map((item) =>
      withoutEmpty(item === null && items !== undefined ? zero(items) : item, items),
    );
  }
  if (field(schema, "x-quantity") === true && isNumber(value)) return String(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
      const of = schemaOfProperty(schema, key);
      const isMapped = field(schema, "properties", key) === undefined && isObject(of);
      const given = inner === null && isMapped ? zero(of) : inner;
      return isEmpty(given, of) ? [] : [[key, withoutEmpty(given, of)]];
    }),
  );
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
    const seen = new Map<string, number>();
    const keys = listAt(schema, "x-kubernetes-list-map-keys").map(String);
    const kind = field(schema, "x-kubernetes-list-type");
    return value.flatMap((item, i) => {
      const identity =
        kind === "map" ? Object.fromEntries(keys.map((key) => [key, field(item, key) ?? null])) : item;
      const text = writeJson(identity);
      const times = (seen.get(text) ?? 0) + 1;
      seen.set(text, times);
      const again = (kind === "map" || kind === "set") && times === 2;
      const own: [string, Json][] = again ? [[`${path}[${i}]`, identity]] : [];
      return [...own, ...repeatedItems(item, field(schema, "items"), `${path}[${i}]`)];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    repeatedItems(inner, schemaOfProperty(schema, key), path === "" ? key : `${path}.${key}`),
  );
}
