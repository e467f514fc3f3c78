// Strategic merge patch for built-in kinds: lists with a merge key are merged by it, all else as in a merge patch.
// Simplifications: the key is looked up by the list's name alone, and merged lists keep the order they had.
import { equal, field, isArray, isObject, listAt, textAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

const byName = [
  "containers",
  "initContainers",
  "ephemeralContainers",
  "volumes",
  "env",
  "imagePullSecrets",
  "secrets",
];
const byOther: ReadonlyMap<string, readonly string[]> = new Map([
  ["volumeMounts", ["mountPath"]],
  ["volumeDevices", ["devicePath"]],
  ["ports", ["containerPort", "port"]],
  ["hostAliases", ["ip"]],
  ["topologySpreadConstraints", ["topologyKey"]],
  ["conditions", ["type"]],
  ["ownerReferences", ["uid"]],
]);
const mergeKeys = (list: string): readonly string[] =>
  byName.includes(list) ? ["name"] : (byOther.get(list) ?? []);

const directive = (item: Json): string | undefined => textAt(item, "$patch");

function mergedByKey(list: readonly Json[], patch: readonly Json[], key: string): readonly Json[] {
  return patch.reduce<readonly Json[]>((merged, item) => {
    const index = merged.findIndex((one) => equal(field(one, key), field(item, key)));
    if (directive(item) === "delete") return index < 0 ? merged : merged.toSpliced(index, 1);
    return index < 0
      ? [...merged, strategicMerge({}, item)]
      : merged.with(index, strategicMerge(merged[index], item));
  }, list);
}

function mergedList(name: string, list: readonly Json[], patch: readonly Json[]): readonly Json[] {
  // The one list of plain values that is a set.
  if (name === "finalizers") return [...list, ...patch.filter((item) => !list.includes(item))];
  const key = mergeKeys(name).find((one) => patch.some((item) => field(item, one) !== undefined));
  if (patch.some((item) => directive(item) === "replace"))
    return patch.filter((item) => directive(item) === undefined);
  return key === undefined ? patch : mergedByKey(list, patch, key);
}

function applied(result: JsonObject, [key, value]: [string, Json]): JsonObject {
  const [, emptied] = /^\$deleteFromPrimitiveList\/(.+)$/.exec(key) ?? [];
  if (emptied && isArray(value))
    return withField(
      result,
      emptied,
      listAt(result, emptied).filter((item) => !value.includes(item)),
    );
  if (key.startsWith("$")) return result;
  if (value === null) return withField(result, key, undefined);
  const before = field(result, key);
  return withField(
    result,
    key,
    isArray(value) ? mergedList(key, isArray(before) ? before : [], value) : strategicMerge(before, value),
  );
}

/** Applies a strategic merge patch. */
export function strategicMerge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  if (directive(patch) === "delete") return {};
  const old = isObject(target) && directive(patch) !== "replace" ? target : {};
  return Object.entries(patch).reduce(applied, old);
}
