// Sets of fields as metadata.managedFields writes them (FieldsV1): trees of path elements. `f:x` is the field x,
// `k:{"name":"x"}` the item of a list with that key, `v:"x"` the member of a set. A node that is empty or has "." is a
// member; one that only has others below is not.
import { writeJson } from "@drover/json";
import { field, isObject, parseJson } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";

export type FieldSet = JsonObject;
/** From the object's root: path elements as FieldsV1 writes them. */
export type FieldPath = readonly string[];

export const noFields: FieldSet = {};
export const isEmptySet = (set: FieldSet): boolean => Object.keys(set).length === 0;
const isMember = (node: Json | undefined): boolean =>
  isObject(node) && (isEmptySet(node) || Object.hasOwn(node, "."));
const below = (node: Json | undefined): FieldSet => (isObject(node) ? node : noFields);
/** The elements of a set's first level, in the order in which Kubernetes tells them. */
const elements = (set: FieldSet): string[] =>
  Object.keys(set)
    .filter((element) => element !== ".")
    .sort();

const node = (member: boolean, children: FieldSet): FieldSet | undefined =>
  isEmptySet(children) ? (member ? noFields : undefined) : member ? { ".": noFields, ...children } : children;

function combined(a: FieldSet, b: FieldSet, keeps: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const all = [...new Set([...elements(a), ...elements(b)])].sort();
  return Object.fromEntries(
    all.flatMap((element): [string, FieldSet][] => {
      const [x, y] = [field(a, element), field(b, element)];
      const kept = node(keeps(isMember(x), isMember(y)), combined(below(x), below(y), keeps));
      return kept ? [[element, kept]] : [];
    }),
  );
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => combined(a, b, (inA, inB) => inA || inB);
/** Members of `a` that are none of `b`; what lies below a member of `b` stays. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => combined(a, b, (inA, inB) => inA && !inB);
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => combined(a, b, (inA, inB) => inA && inB);

/** `set` without the members of `gone` and all that is below them. */
export const withoutTrees = (set: FieldSet, gone: FieldSet): FieldSet =>
  Object.fromEntries(
    elements(set).flatMap((element): [string, FieldSet][] => {
      const [mine, theirs] = [field(set, element), field(gone, element)];
      if (isMember(theirs)) return [];
      const kept = node(isMember(mine), withoutTrees(below(mine), below(theirs)));
      return kept ? [[element, kept]] : [];
    }),
  );

interface Tree {
  [element: string]: Tree;
}

function insert(tree: Tree, [element, ...rest]: FieldPath): void {
  if (element === undefined) return;
  const known = tree[element];
  const at = known ?? (tree[element] = {});
  const empty = Object.keys(at).length === 0;
  if (rest.length === 0 ? !empty : known !== undefined && empty) at["."] = {};
  insert(at, rest);
}

export function setOf(paths: Iterable<FieldPath>): FieldSet {
  const tree: Tree = {};
  for (const path of paths) insert(tree, path);
  return tree;
}

/** All members, as Kubernetes goes through them: those of a level before those below it. */
export function* pathsIn(set: FieldSet, above: FieldPath = []): Generator<FieldPath> {
  for (const element of elements(set)) if (isMember(set[element])) yield [...above, element];
  for (const element of elements(set)) yield* pathsIn(below(set[element]), [...above, element]);
}

export const hasMember = (set: FieldSet, element: string): boolean => isMember(field(set, element));
export const subset = (set: FieldSet, element: string): FieldSet => below(field(set, element));

/** The set with whatever `adds` names on its way also a member; it gets the element and what is known of its parent. */
export function withParents<At>(
  set: FieldSet,
  at: At,
  adds: (at: At, element: string) => boolean,
  descend: (at: At, element: string) => At,
): FieldSet {
  return Object.fromEntries(
    elements(set).flatMap((element): [string, FieldSet][] => {
      const children = withParents(subset(set, element), descend(at, element), adds, descend);
      const member = hasMember(set, element) || (!isEmptySet(children) && adds(at, element));
      const kept = node(member, children);
      return kept ? [[element, kept]] : [];
    }),
  );
}

function shownElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("i:")) return `[${text}]`;
  const value = parseJson(text);
  if (!isObject(value)) return `[=${writeJson(value)}]`;
  return `[${Object.entries(value)
    .map(([key, inner]) => `${key}=${writeJson(inner)}`)
    .join(",")}]`;
}

/** A path as conflicts name it: `.spec.containers[name="main"].image`. */
export const shownPath = (path: FieldPath): string => path.map(shownElement).join("");
