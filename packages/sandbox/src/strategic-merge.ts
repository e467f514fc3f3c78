// Strategic merge patch for built-in kinds: lists with a merge key are merged by it, all else as in a merge patch.
// Simplification: the key is looked up by the list's name alone, which suffices for the kinds in the table.
import { equal, field, isArray, isObject, listAt, textAt, withField } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

const mergeKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ["containers", ["name"]],
  ["initContainers", ["name"]],
  ["ephemeralContainers", ["name"]],
  ["volumes", ["name"]],
  ["env", ["name"]],
  ["volumeMounts", ["mountPath"]],
  ["volumeDevices", ["devicePath"]],
  ["ports", ["containerPort", "port"]],
  ["imagePullSecrets", ["name"]],
  ["secrets", ["name"]],
  ["hostAliases", ["ip"]],
  ["topologySpreadConstraints", ["topologyKey"]],
  ["conditions", ["type"]],
  ["ownerReferences", ["uid"]],
]);
/** Lists of plain values that are merged as sets. */
const sets = new Set(["finalizers"]);

function mergedByKey(list: readonly Json[], patch: readonly Json[], key: string): readonly Json[] {
  return patch.reduce<readonly Json[]>((merged, item) => {
    const index = merged.findIndex((one) => equal(field(one, key), field(item, key)));
    const found = merged[index];
    if (textAt(item, "$patch") === "delete") return index < 0 ? merged : merged.toSpliced(index, 1);
    const next = strategicMerge(found ?? {}, item);
    return index < 0 ? [...merged, next] : merged.with(index, next);
  }, list);
}

function mergedList(name: string, list: readonly Json[], patch: readonly Json[]): readonly Json[] {
  if (sets.has(name)) return [...list, ...patch.filter((item) => !list.some((one) => equal(one, item)))];
  const key = mergeKeys.get(name)?.find((one) => patch.some((item) => field(item, one) !== undefined));
  if (key === undefined) return patch;
  if (!patch.some((item) => textAt(item, "$patch") === "replace")) return mergedByKey(list, patch, key);
  return patch.filter((item) => textAt(item, "$patch") === undefined);
}

function ordered(list: readonly Json[], name: string, order: readonly Json[]): readonly Json[] {
  const key = mergeKeys.get(name)?.find((one) => order.some((item) => field(item, one) !== undefined));
  const identity = (item: Json): Json | undefined => (key === undefined ? item : field(item, key));
  const place = (item: Json): number => {
    const found = order.findIndex((one) => equal(identity(one), identity(item)));
    return found < 0 ? order.length : found;
  };
  return list.toSorted((a, b) => place(a) - place(b));
}

/** Applies a strategic merge patch. */
export function strategicMerge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const { $patch: directive, $retainKeys: retained, ...changes } = patch;
  if (directive === "delete") return {};
  const old = isObject(target) && directive !== "replace" ? target : {};
  const kept: JsonObject = isArray(retained)
    ? Object.fromEntries(Object.entries(old).filter(([key]) => retained.includes(key)))
    : old;
  const merged = Object.entries(changes).reduce<JsonObject>((result, [key, value]) => {
    if (key.startsWith("$")) return result;
    const before = field(result, key);
    if (value === null) return withField(result, key, undefined);
    if (isArray(value)) return withField(result, key, mergedList(key, isArray(before) ? before : [], value));
    return withField(result, key, strategicMerge(before, value));
  }, kept);
  return Object.entries(changes).reduce<JsonObject>((result, [key, value]) => {
    const [, what, name = ""] = /^\$(setElementOrder|deleteFromPrimitiveList)\/(.+)$/.exec(key) ?? [];
    if (!what || !isArray(value)) return result;
    const list = listAt(result, name);
    return withField(
      result,
      name,
      what === "setElementOrder"
        ? ordered(list, name, value)
        : list.filter((item) => !value.some((gone) => equal(gone, item))),
    );
  }, merged);
}
