// Strategic merge patch for built-in kinds: lists with a merge key are merged by it, all other values as in a merge
// patch. A simplification: the name of a list alone decides its key.
import { isMergedSet, mergeKeyOf, mergeKeysOf } from "../fields/list-keys.ts";
import { equal, field, isArray, isObject, listAt, textAt, withField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { badRequest, serverError } from "../http/status.ts";

const directive = (item: Json): string | undefined => textAt(item, "$patch");

function mergedByKey(list: readonly Json[], patch: readonly Json[], key: string): readonly Json[] {
  return patch.reduce<readonly Json[]>((merged, item) => {
    const index = merged.findIndex((one) => equal(field(one, key), field(item, key)));
    if (directive(item) === "delete") return index < 0 ? merged : merged.toSpliced(index, 1);
    return index < 0
      ? [...merged, strategicMerge(undefined, item)]
      : merged.with(index, strategicMerge(merged[index], item));
  }, list);
}

/**
 * The merged items in the order that the patch requires (`order`, its `$setElementOrder`). Items that `order` lacks keep
 * their places: each comes before the first ordered item that it preceded in the old list (`before`). From apimachinery,
 * strategicpatch, mergeSortedSlice.
 */
function ordered(
  merged: readonly Json[],
  before: readonly Json[],
  order: readonly Json[],
  same: (a: Json, b: Json) => boolean,
): readonly Json[] {
  const placeIn = (items: readonly Json[], item: Json): number => items.findIndex((one) => same(one, item));
  const inOrder = merged
    .filter((item) => placeIn(order, item) >= 0)
    .sort((a, b) => placeIn(order, a) - placeIn(order, b));
  const others = merged.filter((item) => placeIn(order, item) < 0);
  const result: Json[] = [];
  for (const item of inOrder) {
    const at = placeIn(before, item);
    while (
      others[0] !== undefined &&
      at >= 0 &&
      placeIn(before, others[0]) < at &&
      placeIn(before, others[0]) >= 0
    )
      result.push(...others.splice(0, 1));
    result.push(item);
  }
  return [...result, ...others];
}

/**
 * The list by which apimachinery sorts: it deletes items in place, and the first new items take their places
 * (`deleteMatchingEntries`, `append`), so that they count as old items.
 */
function placesAfter(
  list: readonly Json[],
  patch: readonly Json[],
  same: (a: Json, b: Json) => boolean,
): readonly Json[] {
  const gone = patch.filter((item) => directive(item) === "delete");
  const kept = list.filter((item) => !gone.some((one) => same(one, item)));
  const added = patch.filter((item) => !gone.includes(item) && !list.some((one) => same(one, item)));
  return [...kept, ...added.slice(0, list.length - kept.length)];
}

function mergedList(
  name: string,
  list: readonly Json[],
  patch: readonly Json[],
  order: readonly Json[],
): readonly Json[] {
  if (isMergedSet(name))
    return ordered([...list, ...patch.filter((item) => !list.includes(item))], list, order, equal);
  if (patch.some((item) => directive(item) === "replace"))
    return patch.filter((item) => directive(item) === undefined);
  const keys = mergeKeysOf(name);
  const key = mergeKeyOf(name, patch);
  if (keys.length > 0 && patch.some((item) => !isObject(item)))
    throw serverError("list element types are not identical");
  if (key === undefined) {
    const keyless = keys.length > 0 && patch.find((item) => isObject(item));
    if (keyless)
      throw serverError(
        `map: ${JSON.stringify(keyless)} does not contain declared merge key: ${keys.join()}`,
      );
    return patch;
  }
  const same = (a: Json, b: Json): boolean => equal(field(a, key), field(b, key));
  return ordered(mergedByKey(list, patch, key), placesAfter(list, patch, same), order, same);
}

function applied(patch: JsonObject, result: JsonObject, [key, value]: [string, Json]): JsonObject {
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
    isArray(value)
      ? mergedList(key, isArray(before) ? before : [], value, orderOf(patch, key, value))
      : strategicMerge(before, value),
  );
}

const orderOf = (patch: JsonObject, key: string, value: readonly Json[]): readonly Json[] => {
  const given = field(patch, `$setElementOrder/${key}`);
  return isArray(given) ? given : value;
};

/** Applies a strategic merge patch. */
export function strategicMerge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const how = directive(patch) ?? "merge";
  if (!["merge", "replace", "delete"].includes(how)) throw serverError(`unknown patch type: ${how} in map`);
  if (how === "delete") return {};
  const old = isObject(target) && how !== "replace" ? retained(target, patch) : undefined;
  const merged = Object.entries(patch).reduce((result, entry) => applied(patch, result, entry), old ?? {});
  // A new object keeps this directive, and the decoder refuses it.
  return withField(merged, "$retainKeys", old ? undefined : field(patch, "$retainKeys"));
}

/** The object with only the keys in $retainKeys, which must include all keys of the patch with a value. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = field(patch, "$retainKeys");
  if (keys === undefined) return target;
  const fits = ([key, value]: [string, Json]): boolean =>
    value === null || /^\$(retainKeys$|setElementOrder\/|deleteFrom)/.test(key) || listOf(keys).includes(key);
  if (!isArray(keys) || !Object.entries(patch).every(fits))
    throw badRequest("invalid patch format of retainKeys");
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}
const listOf = (value: Json): readonly Json[] => (isArray(value) ? value : []);
