// The preparation of an object for validation: unknown fields and meaningless nulls are dropped, defaults are added.
import { duplicate, invalid, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { field, isArray, isObject, listAt, objectAt, sorted, sortedJson } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

const keepsUnknown = (schema: Json | undefined): boolean =>
  field(schema, "x-kubernetes-preserve-unknown-fields") === true;
const schemaOfProperty = (schema: Json | undefined, key: string): Json | undefined => {
  const known = field(schema, "properties", key);
  const others = field(schema, "additionalProperties");
  return known ?? (others === false ? undefined : others);
};

/** Fields that every embedded resource has, even if its schema lacks them. */
const typeMeta = new Set(["apiVersion", "kind", "metadata"]);

/**
 * The value without the fields that the structural schema does not know; their paths are added to `unknown`.
 * Values of a wrong type stay, and the validation refuses them.
 */
export function pruned(
  value: Json,
  schema: Json | undefined,
  path: string,
  unknown: string[],
  keeps = keepsUnknown(schema),
): Json {
  if (isArray(value)) {
    const items = field(schema, "items");
    if (keeps && items === undefined) return value;
    // The items of a list that keeps unknown fields keep them, too. Objects in the items do not.
    return value.map((item, i) => pruned(item, items, `${path}[${i}]`, unknown, keeps || undefined));
  }
  if (!isObject(value)) return value;
  const embedded = field(schema, "x-kubernetes-embedded-resource") === true;
  const kept = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    const at = path === "" ? key : `${path}.${key}`;
    const known = field(schema, "properties", key);
    const others = field(schema, "additionalProperties");
    if (embedded && typeMeta.has(key)) return [[key, inner]];
    if (known !== undefined || others !== undefined)
      return [[key, pruned(inner, known ?? (isObject(others) ? others : undefined), at, unknown)]];
    if (keeps) return [[key, inner]];
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

/** The value that Go makes of a null in a map or a list. */
const zeroes: ReadonlyMap<Json | undefined, Json> = new Map<Json, Json>([
  ["string", ""],
  ["integer", 0],
  ["number", 0],
  ["boolean", false],
  ["array", []],
]);
const zero = (schema: Json | undefined): Json => zeroes.get(field(schema, "type")) ?? {};

/**
 * The value of a built-in kind without the parts that Go leaves out: empty maps and lists, and empty fields that are
 * marked.
 */
export function withoutEmpty(value: Json, schema: Json | undefined): Json {
  if (isArray(value)) {
    const items = field(schema, "items");
    return value.map((item) =>
      withoutEmpty(item === null && items !== undefined ? zero(items) : item, items),
    );
  }
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
 * The value with its defaults. A null that is not nullable counts as no value: its default takes its place, or it goes,
 * unless `keepsNulls`.
 */
export function defaulted(value: Json, schema: Json | undefined, keepsNulls = false): Json {
  if (isArray(value)) return value.map((item) => defaulted(item, field(schema, "items"), keepsNulls));
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
      return meaninglessNull(inner, of) && !keepsNulls ? [] : [[key, defaulted(inner, of, keepsNulls)]];
    }),
  );
}

/** The value without nulls that mean nothing and that no default replaces. */
export function withoutNulls(value: Json, schema: Json | undefined): Json {
  if (isArray(value)) return value.map((item) => withoutNulls(item, field(schema, "items")));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
      const of = schemaOfProperty(schema, key);
      const isLost = meaninglessNull(inner, of) && field(of, "default") === undefined;
      return isLost ? [] : [[key, withoutNulls(inner, of)]];
    }),
  );
}

/** The errors of the items of a list by the type of the list. */
function itemErrors(value: readonly Json[], schema: Json, path: string): FieldError[] {
  const list = field(schema, "x-kubernetes-list-type");
  if (list !== "map" && list !== "set") return [];
  const stranger = list === "map" ? value.findIndex((item) => item !== null && !isObject(item)) : -1;
  if (stranger >= 0) {
    const why = "must be an object for an array of list-type map";
    return [invalid(`${path}[${stranger}]`, sorted(value[stranger] ?? null), why)];
  }
  const keys = listAt(schema, "x-kubernetes-list-map-keys").map(String);
  const times = new Map<string, number>();
  return value.flatMap((item, i) => {
    const given = keys.filter((key) => field(item, key) !== undefined);
    const identity =
      list === "map" ? Object.fromEntries(given.map((key) => [key, field(item, key) ?? null])) : item;
    const text = sortedJson(identity);
    const count = (times.get(text) ?? 0) + 1;
    times.set(text, count);
    return when(count === 2, duplicate(`${path}[${i}]`, sorted(identity)));
  });
}

/** The errors by `x-kubernetes-list-type`: one for each repeated item, and one for items without keys. */
export function repeatedItems(value: Json, schema: Json | undefined, path: string): FieldError[] {
  if (isArray(value)) {
    const inside = value.flatMap((item, i) => repeatedItems(item, field(schema, "items"), `${path}[${i}]`));
    return [...itemErrors(value, schema ?? null, path), ...inside];
  }
  if (!isObject(value) || !isObject(schema)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const known = field(schema, "properties", key);
    const at = path === "" ? key : `${path}.${key}`;
    const others = field(schema, "additionalProperties");
    return [
      ...repeatedItems(inner, known, at),
      ...(isObject(others) ? repeatedItems(inner, others, `${path}[${key}]`) : []),
    ];
  });
}
