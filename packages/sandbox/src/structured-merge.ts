// Merging an applied configuration into an object and taking fields out of one, by schema. The rules, also where they
// look odd (nulls, empty containers, the order of merged lists), are structured-merge-diff's.
import { writeJson } from "@drover/json";
import { hasMember, isEmptySet, setOf, subset, withParents } from "./field-sets.ts";
import type { FieldPath, FieldSet } from "./field-sets.ts";
import { field, isArray, isObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { elementOfItem, isNamed, mergingOf, schemaOfField, schemaOfItem } from "./merge-schema.ts";
import type { MergeSchema } from "./merge-schema.ts";

const nowhere: MergeSchema = { schema: undefined, open: true };
export const fieldSchema = (at: MergeSchema, name: string): MergeSchema => schemaOfField(at, name) ?? nowhere;
export const mapOrNone = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
export const listOrNone = (value: Json | undefined): readonly Json[] => (isArray(value) ? value : []);
export const elementOf = (list: MergeSchema, item: Json): string => {
  const found = elementOfItem(list, item);
  return "element" in found ? found.element : `v:${writeJson(item)}`;
};

/** How two values merge; null takes the form of the other. */
export const mergingOfBoth = (
  at: MergeSchema,
  left: Json | undefined,
  right: Json | undefined,
): Merging | "differing" => {
  if (left === undefined || left === null) return mergingOf(at, right);
  const merging = mergingOf(at, left);
  return right === undefined || right === null || mergingOf(at, right) === merging ? merging : "differing";
};
type Merging = ReturnType<typeof mergingOf>;

export const isEmptyContainer = (value: Json | undefined): boolean =>
  isArray(value)
    ? value.length === 0
    : value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);

/** What applying `right` on `left` leaves. Nothing is ever removed by it. */
export function merged(at: MergeSchema, left: Json | undefined, right: Json | undefined): Json {
  if (right === undefined) return left ?? null;
  if (left === undefined) return right;
  const merging = mergingOfBoth(at, left, right);
  const whole = merging === "whole" || merging === "differing";
  if (whole || (isEmptyContainer(left) && isEmptyContainer(right))) return right;
  if (merging === "list") return mergedList(at, listOrNone(left), listOrNone(right));
  const [old, given] = [mapOrNone(left), mapOrNone(right)];
  return Object.fromEntries(
    Object.keys({ ...old, ...given }).map((key) => [
      key,
      merged(fieldSchema(at, key), field(old, key), field(given, key)),
    ]),
  );
}

/** Items of both keep the order of `right`; those of `left` alone stay where they are between them. */
function mergedList(at: MergeSchema, left: readonly Json[], right: readonly Json[]): readonly Json[] {
  const lefts = left.map((item) => elementOf(at, item));
  const rights = right.map((item) => elementOf(at, item));
  const leftOf = (element: string): Json | undefined => {
    const first = lefts.indexOf(element);
    return first === lefts.lastIndexOf(element) ? left[first] : undefined;
  };
  const shared = rights.filter((element) => lefts.includes(element));
  const out: Json[] = [];
  const done = new Set<string>();
  const take = (j: number): void => {
    const element = rights[j] ?? "";
    done.add(element);
    out.push(merged(schemaOfItem(at), leftOf(element), right[j]));
    if (shared[0] === element) shared.shift();
  };
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    const [element, given] = [lefts[i], rights[j]];
    if (element !== undefined && element === given) {
      take(j);
      i += 1;
      j += 1;
    } else if (element !== undefined && !rights.includes(element)) {
      out.push(left[i] ?? null);
      i += 1;
    } else if (
      element !== undefined &&
      (done.has(element) || (given !== undefined && shared[0] !== undefined && shared[0] !== element))
    ) {
      i += 1;
    } else {
      take(j);
      j += 1;
    }
  }
  return out;
}

function* pathsOf(at: MergeSchema, value: Json, path: FieldPath): Generator<FieldPath> {
  switch (mergingOf(at, value)) {
    case "whole":
      yield path;
      return;
    case "list": {
      const elements = listOrNone(value).map((item) => elementOf(at, item));
      for (const [i, item] of listOrNone(value).entries()) {
        const element = elements[i] ?? "";
        const unique = elements.indexOf(element) === elements.lastIndexOf(element);
        if (unique) yield* pathsOf(schemaOfItem(at), item, [...path, element]);
        yield [...path, element];
      }
      return;
    }
    case "map":
      for (const [key, inner] of Object.entries(mapOrNone(value))) {
        yield* pathsOf(fieldSchema(at, key), inner, [...path, `f:${key}`]);
        const empty = inner === null || (isObject(inner) && isEmptyContainer(inner));
        if (empty || !isNamed(at, key)) yield [...path, `f:${key}`];
      }
  }
}

/** Every field that a configuration mentions. */
export const fieldSetOf = (at: MergeSchema, value: Json): FieldSet => setOf(pathsOf(at, value, []));

/** The value without the fields and items of a set. What loses all it had becomes null. */
export function withoutFields(at: MergeSchema, value: Json, gone: FieldSet): Json {
  const merging = mergingOf(at, value);
  if (merging === "whole") return isObject(value) || isArray(value) ? null : value;
  const rest = (inner: Json, below: MergeSchema, element: string): Json => {
    const deeper = subset(gone, element);
    return isEmptySet(deeper) ? inner : withoutFields(below, inner, deeper);
  };
  if (merging === "list") {
    const items = listOrNone(value).flatMap((item): Json[] => {
      const element = elementOf(at, item);
      return hasMember(gone, element) ? [] : [rest(item, schemaOfItem(at), element)];
    });
    return items.length > 0 ? items : null;
  }
  const kept = Object.entries(mapOrNone(value)).flatMap(([key, inner]): [string, Json][] =>
    hasMember(gone, `f:${key}`) ? [] : [[key, rest(inner, fieldSchema(at, key), `f:${key}`)]],
  );
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}

/** The set with every field that the schema names on the way to a member: such fields go when all below them goes. */
export const withNamedParents = (at: MergeSchema, set: FieldSet): FieldSet =>
  withParents(
    set,
    at,
    (parent, element) => element.startsWith("f:") && isNamed(parent, element.slice(2)),
    (parent, element) =>
      element.startsWith("f:") ? fieldSchema(parent, element.slice(2)) : schemaOfItem(parent),
  );
