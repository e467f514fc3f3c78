// The fields in which two values differ (structured-merge-diff, typed/compare.go).
import { equal, field, isArray, isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { pathTo } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { elementOf } from "./field-type.ts";
import type { FieldType } from "./field-type.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}
/** The two sides; undefined for a side without the field. */
type Sides = readonly [Json | undefined, Json | undefined];
type Found = Readonly<Record<keyof Comparison, Set<string>>>;

/** Compares two values of a type. */
export function compareFields(before: Json, after: Json, type: FieldType): Comparison {
  const found = { added: new Set<string>(), changed: new Set<string>(), removed: new Set<string>() };
  compare([before, after], type, "", found);
  return found;
}

const kindOf = (value: Json | undefined): "map" | "list" | "scalar" | undefined => {
  if (value === undefined || value === null) return undefined;
  return isArray(value) ? "list" : isObject(value) ? "map" : "scalar";
};

function compare(sides: Sides, type: FieldType, path: string, found: Found): void {
  const kinds = new Set(sides.map(kindOf).filter((kind) => kind !== undefined));
  const areLeaves = [...(kinds.size > 0 ? kinds : ["scalar"])].map((kind) => {
    const isLeaf =
      kind === "map"
        ? type.isAtomicMap || sides.every((side) => !isObject(side) || Object.keys(side).length === 0)
        : kind === "list"
          ? !type.listKeys || sides.every((side) => !isArray(side) || side.length === 0)
          : true;
    if (isLeaf) return true;
    if (kind === "map") compareMaps(sides, type, path, found);
    else compareLists(sides, type, path, found);
    return false;
  });
  const [before, after] = sides;
  if (path === "") return;
  if (before === undefined) found.added.add(path);
  else if (after === undefined) found.removed.add(path);
  else if (areLeaves.includes(true) && !equal(before, after)) found.changed.add(path);
}

function compareMaps([before, after]: Sides, type: FieldType, path: string, found: Found): void {
  const keys = new Set([before, after].flatMap((side) => (isObject(side) ? Object.keys(side) : [])));
  for (const key of keys)
    compare([field(before, key), field(after, key)], type.fieldAt(key), pathTo(path, `f:${key}`), found);
}

/** Compares items with the same key. If there are several, they are compared as one value. */
function compareLists([before, after]: Sides, type: FieldType, path: string, found: Found): void {
  const itemsOf = (side: Json | undefined): Map<string, Json[]> =>
    Map.groupBy(isArray(side) ? side : [], (item) => elementOf(item, type));
  const [old, next] = [itemsOf(before), itemsOf(after)];
  for (const element of new Set([...old.keys(), ...next.keys()])) {
    const [was, is] = [old.get(element) ?? [], next.get(element) ?? []];
    const at = pathTo(path, element);
    if (was.length < 2 && is.length < 2) compare([was[0], is[0]], type.item(), at, found);
    else if (was.length > 1 && is.length > 1) {
      if (!equal(was, is)) found.changed.add(at);
    } else {
      const single: Sides = was.length > 1 ? [undefined, is[0]] : [was[0], undefined];
      if (single.some((side) => side !== undefined)) compare(single, type.item(), at, found);
      (was.length > 1 ? found.removed : found.added).add(at);
    }
  }
}
