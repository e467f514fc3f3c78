// JSON values of the server: immutable, and shared between store, watches and requests.
// Keys come from users. Objects are therefore built only with spread and Object.fromEntries, which define a key
// called `__proto__` like any other, and are read with `field`, which reads own keys only.

import { parseJson as parseExact, writeJson } from "@drover/json";

/** A bigint is an integer beyond 2^53. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isArray = (value: unknown): value is readonly Json[] => Array.isArray(value);
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isArray(value);
export const isString = (value: unknown): value is string => typeof value === "string";
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";
/** True if Kubernetes' validation takes the value for an integer: an int64, or a double up to 2^53. */
export const isInteger = (value: unknown): boolean =>
  typeof value === "bigint" || Number.isSafeInteger(value);

/** The own value at a path of keys; undefined if the path leaves the data. */
export function field(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let at = value;
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

export const textAt = (value: Json | undefined, ...path: readonly string[]): string | undefined => {
  const found = field(value, ...path);
  return isString(found) ? found : undefined;
};
export const objectAt = (value: Json | undefined, ...path: readonly string[]): JsonObject => {
  const found = field(value, ...path);
  return isObject(found) ? found : {};
};
export const listAt = (value: Json | undefined, ...path: readonly string[]): readonly Json[] => {
  const found = field(value, ...path);
  return isArray(found) ? found : [];
};
/** A number, unless it is beyond 2^53. */
export const numberAt = (value: Json | undefined, ...path: readonly string[]): number | undefined => {
  const found = field(value, ...path);
  return typeof found === "number" ? found : undefined;
};
export const isTrueAt = (value: Json | undefined, ...path: readonly string[]): boolean =>
  field(value, ...path) === true;
export const textsAt = (value: Json | undefined, ...path: readonly string[]): readonly string[] =>
  listAt(value, ...path).filter(isString);

/** The object with `key` set, or without it if the value is undefined. */
export function withField(object: JsonObject, key: string, value: Json | undefined): JsonObject {
  if (value !== undefined) return { ...object, [key]: value };
  return Object.hasOwn(object, key) ? omit(object, key) : object;
}

/** The object without some of its fields. */
export const omit = (object: JsonObject, ...keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

/** An object of the defined fields: the one place where undefined means absent. */
export const present = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );

/** True if the data is equal. The order of lists matters, the order of keys does not. */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isArray(a) && isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  );
}

/** The same data with sorted keys, as Go prints maps. */
export function sorted(value: Json): Json {
  if (isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** JSON as Go writes maps: sorted keys, no spaces. */
export const sortedJson = (value: Json): string => writeJson(sorted(value));

/** The depth of nested data. Deeper data would exhaust the stack, and no schema describes it. */
const deepest = 512;

/** True if JSON can represent the value. */
export function isJson(value: unknown, depth = 0): value is Json {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return depth < deepest && Object.values(value).every((inner) => isJson(inner, depth + 1));
}

/** Parses a JSON text. Throws SyntaxError if it is invalid or nests deeper than 512. */
export function parseJson(text: string): Json {
  const value = parseExact(text);
  if (!isJson(value)) throw new SyntaxError("exceeded max depth");
  return value;
}
