// The fields of a value that can have a manager, and the value without some of them (structured-merge-diff, typed:
// ToFieldSet, RemoveItems, EnsureNamedFieldsAreMembers).
import { isArray, isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { lastOf, parentOf, pathsAbove, pathTo } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { elementOf } from "./field-type.ts";
import type { FieldType } from "./field-type.ts";

const isEmptyMap = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

/** The fields of a value: all leaves, all items of lists with keys, and the keys of maps. */
export function fieldsOf(value: Json, type: FieldType): FieldSet {
  const found = new Set<string>();
  collect(value, type, "", found);
  return found;
}

function collect(value: Json, type: FieldType, path: string, found: Set<string>): void {
  if (isArray(value) && type.listKeys) collectItems(value, type, path, found);
  else if (isObject(value) && !type.isAtomicMap)
    for (const [key, inner] of Object.entries(value)) {
      const at = pathTo(path, `f:${key}`);
      if (isEmptyMap(inner) || !type.declares(key)) found.add(at);
      collect(inner, type.fieldAt(key), at, found);
    }
  else if (path !== "") found.add(path);
}

/** Of items with the same key, only the key counts. */
function collectItems(list: readonly Json[], type: FieldType, path: string, found: Set<string>): void {
  for (const [element, items] of Map.groupBy(list, (item) => elementOf(item, type))) {
    const at = pathTo(path, element);
    found.add(at);
    const [item] = items;
    if (item !== undefined && items.length === 1) collect(item, type.item(), at, found);
  }
}

/**
 * The value without some of its fields. A map or list of which nothing is left becomes null, or goes if `isFinal` and
 * the kind is built in: Go leaves it out.
 */
export function withoutFields(value: Json, type: FieldType, fields: FieldSet, isFinal = false): Json {
  return left(value, type, "", { fields, above: pathsAbove(fields), isFinal });
}

interface Gone {
  readonly fields: FieldSet;
  readonly above: FieldSet;
  readonly isFinal: boolean;
}

function left(value: Json, type: FieldType, path: string, gone: Gone): Json {
  if (isArray(value)) {
    const kept = (type.listKeys ? value : []).flatMap((item): Json[] => {
      const at = pathTo(path, elementOf(item, type));
      if (gone.fields.has(at)) return [];
      return [gone.above.has(at) ? left(item, type.item(), at, gone) : item];
    });
    return kept.length > 0 ? kept : null;
  }
  if (!isObject(value)) return value;
  const kept = (type.isAtomicMap ? [] : Object.entries(value)).flatMap(([key, inner]): [string, Json][] => {
    const at = pathTo(path, `f:${key}`);
    if (gone.fields.has(at)) return [];
    if (!gone.above.has(at)) return [[key, inner]];
    const rest = left(inner, type.fieldAt(key), at, gone);
    return rest === null && gone.isFinal && type.isBuiltIn ? [] : [[key, rest]];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}

/** The set, and the named fields of structs that contain its fields. */
export function withStructs(set: FieldSet, type: FieldType): FieldSet {
  const types = new Map([["", type]]);
  const typeAt = (path: string): FieldType => {
    const known = types.get(path);
    if (known) return known;
    const [above, element] = [typeAt(parentOf(path)), lastOf(path)];
    const found = element.startsWith("f:") ? above.fieldAt(element.slice(2)) : above.item();
    types.set(path, found);
    return found;
  };
  const isStruct = (path: string): boolean =>
    lastOf(path).startsWith("f:") && typeAt(parentOf(path)).declares(lastOf(path).slice(2));
  return set.union(new Set([...pathsAbove(set)].filter(isStruct)));
}
