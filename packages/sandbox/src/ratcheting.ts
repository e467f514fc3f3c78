// A custom resource that its definition has left behind may still be changed elsewhere: what is wrong with values that an
// update leaves alone is not told (apiextensions-apiserver, CRDValidationRatcheting).
import type { FieldError } from "./field-errors.ts";
import { equal, isObject } from "./json.ts";
import type { Json } from "./json.ts";

/** The first key of a path, longest first where keys have dots in them, and the rest of the path. */
function stepOf(value: Json, path: string): [key: string, rest: string] | undefined {
  const keys = Object.keys(isObject(value) ? value : {}).sort((a, b) => b.length - a.length);
  const key = keys.find((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`));
  return key === undefined ? undefined : [key, path.slice(key.length).replace(/^\./, "")];
}

/** Whether something on the way to a path is as it was; items of lists have no "was". */
function isKept(value: Json | undefined, old: Json | undefined, path: string): boolean {
  if (value === undefined) return false;
  if (equal(value, old)) return true;
  const step = isObject(value) && isObject(old) ? stepOf(value, path) : undefined;
  if (!step || !isObject(value) || !isObject(old)) return false;
  const [key, rest] = step;
  return Object.hasOwn(old, key) && isKept(value[key], old[key], rest);
}

/** Those of the errors that the change from `old` is to blame for: all of a new object. */
export const changedErrors = (errors: FieldError[], value: Json, old: Json | undefined): FieldError[] =>
  old === undefined ? errors : errors.filter(({ field }) => !isKept(value, old, field));
