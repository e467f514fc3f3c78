// What changed between two objects, and what is wrong with an applied one, by schema (structured-merge-diff's rules).
import { setOf, shownPath } from "./field-sets.ts";
import type { FieldPath, FieldSet } from "./field-sets.ts";
import { goSyntax, goType, goValue } from "./go-text.ts";
import { equal, field, isArray, isNumber, isObject, textAt } from "./json.ts";
import type { Json } from "./json.ts";
import { elementOfItem, schemaOfField, schemaOfItem } from "./merge-schema.ts";
import type { MergeSchema } from "./merge-schema.ts";
import { elementOf, fieldSchema, isEmptyContainer } from "./structured-merge.ts";
import { listOrNone, mapOrNone, mergingOfBoth } from "./structured-merge.ts";

/** No field is in more than one of them. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Found {
  readonly added: FieldPath[];
  readonly modified: FieldPath[];
  readonly removed: FieldPath[];
}

/** One of them at least is there. */
function compare(
  at: MergeSchema,
  left: Json | undefined,
  right: Json | undefined,
  path: FieldPath,
  found: Found,
): void {
  const one = left === undefined ? found.added : right === undefined ? found.removed : undefined;
  const merging = mergingOfBoth(at, left, right);
  const whole = merging === "whole" || merging === "differing";
  if (whole || (isEmptyContainer(left) && isEmptyContainer(right))) {
    if (one || !equal(left, right)) (one ?? found.modified).push(path);
    return;
  }
  if (merging === "list") compareItems(at, listOrNone(left), listOrNone(right), path, found);
  else
    for (const key of Object.keys({ ...mapOrNone(left), ...mapOrNone(right) }))
      compare(fieldSchema(at, key), field(left, key), field(right, key), [...path, `f:${key}`], found);
  one?.push(path);
}

function compareItems(
  at: MergeSchema,
  left: readonly Json[],
  right: readonly Json[],
  path: FieldPath,
  found: Found,
): void {
  const lefts = Map.groupBy(left, (item) => elementOf(at, item));
  const rights = Map.groupBy(right, (item) => elementOf(at, item));
  for (const element of new Set([...lefts.keys(), ...rights.keys()])) {
    const [old, given] = [lefts.get(element) ?? [], rights.get(element) ?? []];
    const here = [...path, element];
    const items = schemaOfItem(at);
    if (old.length <= 1 && given.length <= 1) compare(items, old[0], given[0], here, found);
    else if (old.length > 1 && given.length > 1) {
      if (!equal(old, given)) found.modified.push(here);
    } else if (old.length > 1) {
      if (given.length > 0) compare(items, undefined, given[0], here, found);
      found.removed.push(here);
    } else {
      if (old.length > 0) compare(items, old[0], undefined, here, found);
      found.added.push(here);
    }
  }
}

export function compared(at: MergeSchema, left: Json, right: Json): Comparison {
  const found: Found = { added: [], modified: [], removed: [] };
  compare(at, left, right, [], found);
  return { added: setOf(found.added), modified: setOf(found.modified), removed: setOf(found.removed) };
}

/** How Go prints the type (`%T`) and the value (`%v`) of what JSON it has read. */
function scalarFault(at: MergeSchema, value: Json): string | undefined {
  const printed = goValue(value);
  switch (textAt(at.schema, "type")) {
    case "integer":
    case "number":
      return isNumber(value) ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${printed}}`;
    case "string":
      if (textAt(at.schema, "format") !== undefined && !isObject(value) && !isArray(value)) return undefined;
      if (typeof value === "string") return undefined;
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case undefined:
    default:
      return undefined;
  }
}

type Fault = readonly [path: FieldPath, what: string, twice?: "twice"];

function* faults(at: MergeSchema, value: Json, path: FieldPath): Generator<Fault> {
  if (value === null) return;
  const type = textAt(at.schema, "type") ?? (isObject(value) ? "object" : isArray(value) ? "array" : "");
  if (type === "object") {
    if (!isObject(value)) yield [path, `expected map, got &{${goValue(value)}}`];
    for (const [key, inner] of Object.entries(mapOrNone(value))) {
      const below = schemaOfField(at, key);
      const here = [...path, `f:${key}`];
      if (!below) {
        yield [here, "field not declared in schema"];
        return;
      }
      yield* faults(below, inner, here);
    }
  } else if (type === "array") {
    if (!isArray(value)) yield [path, `expected list, got &{${goValue(value)}}`];
    yield* itemFaults(at, listOrNone(value), path);
  } else {
    const fault = scalarFault(at, value);
    if (fault !== undefined) yield [path, fault];
  }
}

function* itemFaults(at: MergeSchema, items: readonly Json[], path: FieldPath): Generator<Fault> {
  const keyed = ["map", "set"].includes(textAt(at.schema, "x-kubernetes-list-type") ?? "");
  const seen = new Set<string>();
  for (const [i, item] of items.entries()) {
    const found = keyed ? elementOfItem(at, item) : { element: `i:${i}` };
    if ("fault" in found) {
      yield [path, `element ${i}: ${found.fault}`];
      return;
    }
    if (seen.has(found.element))
      yield [path, `duplicate entries for key ${shownPath([found.element])}`, "twice"];
    seen.add(found.element);
    yield* faults(schemaOfItem(at), item, [...path, found.element]);
  }
}

/** Whether an object is of the schema, but for items that are there twice. */
export function isTyped(at: MergeSchema, value: Json): boolean {
  for (const [, , twice] of faults(at, value, [])) if (!twice) return false;
  return true;
}

/** What is wrong with an applied object, in structured-merge-diff's words, or undefined. */
export function applyFault(at: MergeSchema, value: Json): string | undefined {
  const told = [...faults(at, value, [])].map(([path, what]) => `${shownPath(path)}: ${what}`);
  return told.length > 1 ? ["errors:", ...told.map((one) => `  ${one}`)].join("\n") : told[0];
}
