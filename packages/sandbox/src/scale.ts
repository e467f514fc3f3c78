// What a definition with a scale asks of its objects: counts of replicas, and a selector, where its paths lead.
import { invalid, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { goType, goValue } from "./go-text.ts";
import { field, isObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Behaviour, ScalePaths } from "./resource-type.ts";

const keysOf = (path: string): string[] => path.replace(/^\./, "").split(".");

/** A custom resource with a scale has no negative counts. */
const largest = 2 ** 31 - 1;

/** What keeps a number of replicas from being one; Go tells a value that is no integer by its type in Go. */
function countErrors(object: JsonObject, path: string): FieldError[] {
  const found = foundAt(object, path);
  if (typeof found === "string") return [invalid(path, 0, found)];
  const count = found.value;
  if (count === undefined) return [];
  if (typeof count !== "number" || !Number.isInteger(count))
    return [invalid(path, 0, notOfType(path, count, "int64"))];
  return [
    ...when(count < 0, invalid(path, count, "should be a non-negative integer")),
    ...when(count > largest, invalid(path, count, `should be less than or equal to ${largest}`)),
  ];
}

function selectorErrors(object: JsonObject, path: string): FieldError[] {
  if (path === "") return [];
  const found = foundAt(object, path);
  if (typeof found === "string") return [invalid(path, "", found)];
  const { value = "" } = found;
  return when(typeof value !== "string", invalid(path, "", notOfType(path, value, "string")));
}

const accessing = (keys: readonly string[]): string => `.${keys.join(".")} accessor error`;
const notOfType = (path: string, value: Json, wanted: string): string =>
  `${accessing(keysOf(path))}: ${goValue(value)} is of the type ${goType(value)}, expected ${wanted}`;
/** What stands at a path, or why the path leads nowhere. */
function foundAt(object: JsonObject, path: string): { readonly value: Json | undefined } | string {
  let at: Json | undefined = object;
  const keys = keysOf(path);
  for (const [i, key] of keys.entries()) {
    if (at === undefined || at === null) return { value: undefined };
    if (!isObject(at))
      return `${accessing(keys.slice(0, i + 1))}: ${goValue(at)} is of the type ${goType(at)}, expected map[string]interface{}`;
    at = field(at, key);
  }
  return { value: at };
}

/** What a kind with a scale asks of its objects: of a status that is written alone, only what is in the status. */
export const scaledBehaviour = (paths: ScalePaths | undefined): Behaviour =>
  paths
    ? {
        errors: (object, _, subresource) => [
          ...(subresource === "status" ? [] : countErrors(object, paths.specReplicasPath)),
          ...countErrors(object, paths.statusReplicasPath),
          ...selectorErrors(object, paths.labelSelectorPath),
        ],
      }
    : {};
