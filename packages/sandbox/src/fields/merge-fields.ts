// The merge of an applied configuration into an object (structured-merge-diff, typed/merge.go).
import { field, isArray, isObject, withField } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { elementOf } from "./field-type.ts";
import type { FieldType } from "./field-type.ts";

/** The value with the fields of the configuration. A null removes no map, and no list with keys. */
export function mergeFields(value: Json | undefined, config: Json | undefined, type: FieldType): Json {
  if (value === undefined || config === undefined) return config ?? value ?? null;
  if (isObject(value) && (isObject(config) || config === null)) {
    const areEmpty = Object.keys(value).length === 0 && Object.keys(config ?? {}).length === 0;
    return type.isAtomicMap || areEmpty ? config : mergedMap(value, config ?? {}, type);
  }
  if (isArray(value) && (isArray(config) || config === null)) {
    const areEmpty = value.length === 0 && (config ?? []).length === 0;
    return !type.listKeys || areEmpty ? config : mergedList(value, config ?? [], type);
  }
  return config;
}

const mergedMap = (value: JsonObject, config: JsonObject, type: FieldType): JsonObject =>
  Object.entries(config).reduce<JsonObject>(
    (merged, [key, inner]) =>
      withField(merged, key, mergeFields(field(value, key), inner, type.fieldAt(key))),
    value,
  );

/**
 * The items of both lists. Those of the configuration are in its order; each other item stays before the common item
 * that it preceded. Old items with the same key are not merged.
 */
function mergedList(value: readonly Json[], config: readonly Json[], type: FieldType): readonly Json[] {
  const old = value.map((item) => ({ element: elementOf(item, type), item }));
  const next = config.map((item) => ({ element: elementOf(item, type), item }));
  const known = Map.groupBy(old, ({ element }) => element);
  const wanted = new Set(next.map(({ element }) => element));
  const common = next.map(({ element }) => element).filter((element) => known.has(element));
  const merge = ({ element, item }: { element: string; item: Json }): Json => {
    const same = known.get(element) ?? [];
    return same.length > 1
      ? mergeFields(null, item, type.item())
      : mergeFields(same[0]?.item, item, type.item());
  };
  const merged: Json[] = [];
  const done = new Set<string>();
  const take = (one: { element: string; item: Json }): void => {
    merged.push(merge(one));
    done.add(one.element);
  };
  let [l, r, shared] = [0, 0, 0];
  while (l < old.length || r < next.length) {
    const [left, right] = [old[l], next[r]];
    if (left && right) {
      if (left.element === right.element) {
        take(right);
        [l, r, shared] = [l + 1, r + 1, shared + 1];
        continue;
      }
      if (wanted.has(left.element) && common[shared] !== undefined && common[shared] !== left.element) {
        l += 1;
        continue;
      }
    }
    if (left && !wanted.has(left.element)) {
      merged.push(left.item);
      l += 1;
      continue;
    }
    if (left && done.has(left.element)) l += 1;
    if (right) {
      take(right);
      r += 1;
      if (common[shared] === right.element) shared += 1;
    }
  }
  return merged;
}
