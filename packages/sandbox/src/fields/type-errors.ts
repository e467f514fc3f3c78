// The errors of an applied configuration that does not fit its kind, with the words of structured-merge-diff
// (typed/validate.go). They are found before the merge, and are not errors of fields.
import { quoted, shownValue } from "../http/go-text.ts";
import { field, isArray, isNumber, isObject, isString, isTrueAt, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { metadataSchema } from "../admission/object-metadata.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { elementOf, fieldTypeOf } from "./field-type.ts";
import type { FieldType } from "./field-type.ts";
import { shownPath } from "./field-set.ts";

interface Place {
  readonly schema: Json | undefined;
  readonly type: FieldType;
  readonly path: string;
  /** True if the schema keeps unknown fields here. */
  readonly keeps: boolean;
  /** True if several items of a list may have the same key. */
  readonly repeats: boolean;
}

const kinds: Readonly<Record<string, string>> = {
  object: "map",
  array: "list",
  integer: "numeric (int or float)",
  number: "numeric (int or float)",
};
const isOfType = (value: Json, type: string): boolean => {
  if (type === "object") return isObject(value);
  if (type === "array") return isArray(value);
  if (type === "boolean") return typeof value === "boolean";
  return type === "string" ? isString(value) : isNumber(value);
};

/** Errors as one message. */
export const shownErrors = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? "") : ["errors:", ...errors.map((one) => `  ${one}`)].join("\n");

/** The errors of a configuration, or of an object; empty if it fits its kind. */
export function typeErrors(type: ResourceType, config: JsonObject, repeats = false): string[] {
  const properties = { ...fieldsIn(type.schema), metadata: metadataSchema, apiVersion: text, kind: text };
  const schema = { ...type.schema, type: "object", properties };
  return errorsIn(config, { schema, type: fieldTypeOf(type), path: "", keeps: false, repeats });
}
const text = { type: "string" };
const fieldsIn = (schema: Json): JsonObject => {
  const properties = field(schema, "properties");
  return isObject(properties) ? properties : {};
};

function errorsIn(value: Json, at: Place): string[] {
  const type = textAt(at.schema, "type");
  if (value === null) return [];
  if (type !== undefined && !isOfType(value, type))
    return [`${at.path}: expected ${kinds[type] ?? type}, got ${shownValue(value)}`];
  if (isArray(value)) return listErrors(value, at);
  return isObject(value) ? mapErrors(value, at) : [];
}

function mapErrors(value: JsonObject, { schema, type, path, keeps: above, repeats }: Place): string[] {
  const keeps = above || isTrueAt(schema, "x-kubernetes-preserve-unknown-fields");
  const [known, others] = [fieldsIn(schema ?? {}), field(schema, "additionalProperties")];
  const isOpen = keeps || others === true || (others === undefined && Object.keys(known).length === 0);
  const isTyped = isTrueAt(schema, "x-kubernetes-embedded-resource");
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    const of = field(known, key) ?? (isObject(others) ? others : undefined);
    const isDeclared = of !== undefined || isOpen || (isTyped && type.declares(key));
    if (!isDeclared) return [`${at}: field not declared in schema`];
    return errorsIn(inner, { schema: of, type: type.fieldAt(key), path: at, keeps, repeats });
  });
}

function listErrors(list: readonly Json[], { schema, type, path, keeps, repeats }: Place): string[] {
  const { listKeys } = type;
  const known = new Set<string>();
  return list.flatMap((item, i) => {
    const fault = listKeys && keyFault(item, listKeys, type);
    if (fault !== undefined) return [`${path}: element ${i}: ${fault}`];
    const element = listKeys ? elementOf(item, type) : undefined;
    const name = element === undefined ? `[${i}]` : shownPath(element);
    const isDouble = !repeats && element !== undefined && known.has(element);
    if (element !== undefined) known.add(element);
    const inner = { schema: field(schema, "items"), type: type.item(), path: path + name, keeps, repeats };
    return [...(isDouble ? [`${path}: duplicate entries for key ${name}`] : []), ...errorsIn(item, inner)];
  });
}

function keyFault(item: Json, keys: readonly string[], list: FieldType): string | undefined {
  const sort = `associative list with${keys.length > 0 ? "" : "out"} keys`;
  if (keys.length === 0) {
    if (isObject(item)) return `${sort} has an element that's a map type`;
    if (isArray(item)) return "not supported: associative list with lists as elements";
    return item === null ? `${sort} has an element that's an explicit null` : undefined;
  }
  if (!isObject(item)) return `${sort} may not have ${item === null ? "a null element" : "non-map elements"}`;
  if (keys.some((key) => (field(item, key) ?? list.item().defaultOf(key)) !== undefined)) return undefined;
  return `${sort} has an element that omits all key fields [${keys.map(quoted).join(" ")}] (and doesn't have default values for any key fields)`;
}
