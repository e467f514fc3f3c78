// JSON patch, merge patch and strategic merge patch. Patches come from users: no code assigns to a key of theirs.
import { equal, field, isArray, isObject, textAt, withField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { badRequest, unprocessable, unsupportedMediaType, unsupportedPatch } from "../http/status.ts";
import { strategicMerge } from "./strategic-merge.ts";

/** RFC 7386, as in evanphx/json-patch: null fields are removed in lists, too, unless the list replaces an object. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (isArray(patch) && !isObject(target))
    return patch.map((item) => (item === null ? null : mergePatch(undefined, item)));
  if (!isObject(patch)) return patch;
  const entries = Object.entries(patch);
  return entries.reduce<JsonObject>(
    (merged, [key, value]) =>
      withField(merged, key, value === null ? undefined : mergePatch(field(merged, key), value)),
    isObject(target) ? target : {},
  );
}

function wholeMerge(object: JsonObject, patch: Json): Json {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  return mergePatch(object, patch);
}

/** A strategic merge does not change the kind of an object. */
function wholeStrategic(object: JsonObject, patch: Json): Json {
  const merged = strategicMerge(object, patch ?? {});
  const { apiVersion = "", kind = "" } = object;
  return isObject(merged) ? { ...merged, apiVersion, kind } : merged;
}

/** The keys of a JSON pointer. As in evanphx/json-patch, the text before the first slash is ignored. */
const pointer = (path: string | undefined): string[] => {
  if (path === undefined || path === "") throw unprocessable("jsonpatch: a path is missing");
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
};

function position(list: readonly Json[], key: string, adding: boolean): number {
  const length = list.length + (adding ? 1 : 0);
  const number = /^-?(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
  // Negative ones count from the end.
  const index = key === "-" && adding ? list.length : number < 0 ? number + length : number;
  if (!(index >= 0 && index < length)) throw unprocessable(`jsonpatch: index ${key} is outside of the list`);
  return index;
}

function read(document: Json, path: readonly string[]): Json {
  return path.reduce<Json>((at, key) => {
    const found = isArray(at) ? at[position(at, key, false)] : field(at, key);
    if (found === undefined) throw unprocessable(`jsonpatch: the path /${path.join("/")} does not exist`);
    return found;
  }, document);
}

/** The value for a test for null, which a missing field passes. */
function readOrNull(document: Json, path: readonly string[]): Json {
  const parent = read(document, path.slice(0, -1));
  return isArray(parent) ? read(document, path) : (field(parent, path.at(-1) ?? "") ?? null);
}

type Change = { readonly op: "add" | "replace"; readonly value: Json } | { readonly op: "remove" };

function changed(document: Json, path: readonly string[], change: Change): Json {
  const [key, ...rest] = path;
  if (key === undefined) return change.op === "remove" ? null : change.value;
  const last = rest.length === 0;
  if (isArray(document)) {
    const index = position(document, key, last && change.op === "add");
    if (!last) return document.with(index, changed(document[index] ?? null, rest, change));
    return document.toSpliced(
      index,
      change.op === "add" ? 0 : 1,
      ...(change.op === "remove" ? [] : [change.value]),
    );
  }
  const inner = field(document, key);
  if (!isObject(document) || (inner === undefined && !(last && change.op !== "remove")))
    throw unprocessable(`jsonpatch: the path ${key} does not exist`);
  return withField(
    document,
    key,
    last && change.op === "remove" ? undefined : changed(inner ?? null, rest, change),
  );
}

function apply(document: Json, operation: Json): Json {
  if (!isObject(operation))
    throw badRequest("json: cannot unmarshal an operation of the patch: it is no object");
  const path = pointer(textAt(operation, "path"));
  const value = field(operation, "value") ?? null;
  const op = textAt(operation, "op");
  switch (op) {
    case "add":
    case "replace":
      return changed(document, path, { op, value });
    case "remove":
      return changed(document, path, { op });
    case "test":
      if (!equal(value === null ? readOrNull(document, path) : read(document, path), value))
        throw unprocessable(`testing value /${path.join("/")} failed`);
      return document;
    case "move":
    case "copy": {
      const from = pointer(textAt(operation, "from"));
      const moved = read(document, from);
      const rest = op === "move" ? changed(document, from, { op: "remove" }) : document;
      return changed(rest, path, { op: "add", value: moved });
    }
    case undefined:
    default:
      throw unprocessable(`Unexpected kind: ${op ?? "unknown"}`);
  }
}

/** Applies a JSON patch (RFC 6902). Throws 422 if an operation does not fit. */
export function jsonPatch(document: Json, patch: Json): Json {
  if (patch === null) return document;
  if (!isArray(patch)) throw badRequest("error decoding patch: a JSON patch is a list of operations");
  return patch.reduce(apply, document);
}

const json = "application/json-patch+json";
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const applied = "application/apply-patch+yaml";

const mediaOf = (contentType: string): string => contentType.split(";")[0]?.trim() ?? "";
/** True if a patch of a content type is a configuration to apply. */
export const isApply = (contentType: string): boolean => mediaOf(contentType) === applied;

/** The function that applies a patch of a content type. Throws 415 for a type that the kind does not take. */
export function patchFor(contentType: string, custom: boolean): (object: JsonObject, patch: Json) => Json {
  const media = mediaOf(contentType);
  if (media === json) return jsonPatch;
  if (media === merge) return wholeMerge;
  if (media === strategic && !custom) return wholeStrategic;
  if (!custom) throw unsupportedPatch();
  throw unsupportedMediaType([json, merge, applied]);
}
