// Sets of fields of an object, as the entries of managedFields write them:
// `{"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}`.
import { htmlSafe, shownValue } from "../http/go-text.ts";
import { field, isObject, objectAt, parseJson, sortedJson } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

/** Paths of fields. The elements of a path, such as `f:spec`, `k:{"port":80}` and `v:"x"`, are joined by NUL. */
export type FieldSet = ReadonlySet<string>;

const separator = "\0";

/** The path of an element in the field at a path; "" is the path of the object. */
export const pathTo = (path: string, element: string): string =>
  path === "" ? element : `${path}${separator}${element}`;
const elementsOf = (path: string): string[] => path.split(separator);
export const fieldPath = (...keys: readonly string[]): string =>
  keys.map((key) => `f:${key}`).join(separator);
/** The element of an item of a list that has these keys, or that is this value. */
export const keyElement = (keys: JsonObject): string => `k:${htmlSafe(sortedJson(keys))}`;
export const valueElement = (value: Json): string => `v:${htmlSafe(sortedJson(value))}`;

/** The path of the field that contains the field at a path. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(separator)));
export const lastOf = (path: string): string => path.slice(path.lastIndexOf(separator) + 1);

/** The paths of all fields that contain a field of the set. */
export function pathsAbove(set: FieldSet): FieldSet {
  const above = new Set<string>();
  for (const path of set)
    for (let at = parentOf(path); at !== "" && !above.has(at); at = parentOf(at)) above.add(at);
  return above;
}

/** The set without some fields and all fields in them. */
export const withoutTrees = (set: FieldSet, roots: readonly string[]): FieldSet =>
  new Set(
    [...set].filter((path) => !roots.some((root) => path === root || path.startsWith(root + separator))),
  );

/** A field in a tree of fields; the set has it if it is a member. */
interface Branch {
  isMember: boolean;
  readonly below: Map<string, Branch>;
}
const newBranch = (): Branch => ({ isMember: false, below: new Map() });

const written = ({ isMember, below }: Branch): JsonObject => ({
  ...(isMember && below.size > 0 && { ".": {} }),
  ...Object.fromEntries([...below].map(([element, inner]) => [element, written(inner)])),
});

export function fieldsV1Of(set: FieldSet): JsonObject {
  const root = newBranch();
  for (const path of set) {
    let at = root;
    for (const element of elementsOf(path)) {
      const next = at.below.get(element) ?? newBranch();
      at.below.set(element, next);
      at = next;
    }
    at.isMember = true;
  }
  return written(root);
}

/** The element in the form of this file. Throws SyntaxError if its key or value is not JSON. */
function canonical(element: string): string {
  if (element.startsWith("k:")) return keyElement(objectAt(parseJson(element.slice(2))));
  return element.startsWith("v:") ? valueElement(parseJson(element.slice(2))) : element;
}

/** The paths in a FieldsV1. Throws SyntaxError if an element is invalid. */
export function fieldSetOf(fieldsV1: JsonObject, path = ""): FieldSet {
  return new Set(
    Object.entries(fieldsV1)
      .filter(([element]) => /^[fkv]:/.test(element))
      .flatMap(([element, inner]): string[] => {
        const at = pathTo(path, canonical(element));
        const isMember =
          !isObject(inner) || Object.keys(inner).length === 0 || field(inner, ".") !== undefined;
        return [...(isMember ? [at] : []), ...fieldSetOf(objectAt(inner), at)];
      }),
  );
}

function shownElement(element: string): string {
  const [sort, text] = [element.slice(0, 2), element.slice(2)];
  if (sort === "f:") return `.${text}`;
  const value = parseJson(text);
  if (sort === "v:") return `[=${shownValue(value)}]`;
  return `[${Object.entries(objectAt(value))
    .map(([key, one]) => `${key}=${shownValue(one)}`)
    .join(",")}]`;
}

/** A path as errors show it: `.spec.ports[port=80,protocol="TCP"].name`. */
export const shownPath = (path: string): string => elementsOf(path).map(shownElement).join("");

/** The values by which elements are sorted: names, then values. */
function sortValues(element: string): readonly Json[] {
  if (element.startsWith("f:")) return [element];
  const value = parseJson(element.slice(2));
  return [element.slice(0, 2), ...(isObject(value) ? Object.entries(value).flat() : [value])];
}
function compareElements(a: string, b: string): number {
  const [left, right] = [sortValues(a), sortValues(b)];
  const i = left.findIndex((one, at) => one !== right[at]);
  return i < 0 ? 0 : (left[i] ?? "") < (right[i] ?? "") ? -1 : 1;
}

/** The order of the paths in errors: first the fields at a level, then those in other fields. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [elementsOf(a), elementsOf(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const [leftEnds, rightEnds] = [i === left.length - 1, i === right.length - 1];
    if (leftEnds !== rightEnds) return leftEnds ? -1 : 1;
    const order = compareElements(left[i] ?? "", right[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}
