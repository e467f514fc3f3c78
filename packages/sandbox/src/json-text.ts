// JSON as Kubernetes' decoders read it: fields that are there twice are told, and what they mean depends on the kind.
import { isNumber, isObject, isString, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

/** What a text says, and the paths of the fields that it says more than once. */
export interface JsonText {
  readonly value: Json;
  readonly duplicates: readonly string[];
}

const token = /\s*("(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+)/y;

/** Both values of a field of a built-in kind, decoded one into the other as Go does: maps and structs are merged. */
function merged(first: Json, second: Json): Json {
  if (!isObject(first) || !isObject(second)) return second;
  return Object.entries(second).reduce<JsonObject>((all, [key, value]) => {
    const before = Object.hasOwn(all, key) ? all[key] : undefined;
    return { ...all, [key]: before === undefined ? value : merged(before, value) };
  }, first);
}

/**
 * Reads a text that JSON.parse has accepted. Of a field that is there twice the last one counts, or, with `merging`,
 * both.
 */
export function readDuplicates(text: string, merging: boolean): JsonText {
  const duplicates: string[] = [];
  const scan = new RegExp(token);
  const next = (): string => scan.exec(text)?.[1] ?? "";
  const members = (path: string): JsonObject => {
    const all = new Map<string, Json>();
    for (let at = next(); at !== "}"; at = next()) {
      if (at === ",") continue;
      const key = String(JSON.parse(at));
      const inner = path === "" ? key : `${path}.${key}`;
      next();
      const value = read(next(), inner);
      const before = all.get(key);
      if (before !== undefined) duplicates.push(inner);
      all.set(key, merging && before !== undefined ? merged(before, value) : value);
    }
    return Object.fromEntries(all);
  };
  const items = (path: string): Json[] => {
    const all: Json[] = [];
    for (let at = next(); at !== "]"; at = next())
      if (at !== ",") all.push(read(at, `${path}[${all.length}]`));
    return all;
  };
  const plain = (at: string): Json => {
    const value = parseJson(at);
    return isString(value) || isNumber(value) || typeof value === "boolean" ? value : null;
  };
  const read = (at: string, path: string): Json => {
    if (at === "{") return members(path);
    return at === "[" ? items(path) : plain(at);
  };
  return { value: read(next(), ""), duplicates };
}
