// Whether a CustomResourceDefinition's schema is structural, as apiextensions-apiserver asks before it serves one.
import { forbidden, invalid, notSupported, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isArray, isObject, listAt, objectAt, omit, textAt, textsAt } from "./json.ts";
import type { Json } from "./json.ts";
import { patternProblem } from "./pattern.ts";
import { defaulted, pruned } from "./schema-fitting.ts";
import { validated } from "./schema-validation.ts";

type Level = "root" | "item" | "field";

const types = ["array", "boolean", "integer", "number", "object", "string"];
const listTypes = ["atomic", "set", "map"];
const quadratic = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
const unsupported = ["$ref", "definitions", "dependencies", "id", "patternProperties", "additionalItems"];
/** Keywords that belong to the structure, not inside allOf, anyOf, oneOf or not; by what they have to be there. */
const structureOnly: Readonly<Record<string, string>> = {
  empty: "type title description x-kubernetes-list-map-keys",
  undefined: "additionalProperties default x-kubernetes-list-type x-kubernetes-map-type",
  false:
    "nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string",
};
const missingType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
const intOrString: Json = [{ type: "integer" }, { type: "string" }];
const flag = (schema: Json, name: string): boolean => field(schema, name) === true;
const keyed = (path: string, key: string): string => `${path}.properties[${key}]`;
const properties = (schema: Json): [string, Json][] => Object.entries(objectAt(schema, "properties"));
const junctors = (schema: Json): [string, Json][] => [
  ...["allOf", "anyOf", "oneOf"].flatMap((name) =>
    listAt(schema, name).map((one, i): [string, Json] => [`${name}[${i}]`, one]),
  ),
  ...Object.entries(objectAt(schema)).filter(([key]) => key === "not"),
];

/** Everything that keeps a schema from being structural, sorted; `path` is where it stands in the definition. */
export const structuralErrors = (schema: Json, path: string): FieldError[] =>
  structure(schema, path, "root").sort((a, b) =>
    `${a.field}: ${a.body}` < `${b.field}: ${b.body}` ? -1 : 1,
  );

function structure(schema: Json, path: string, level: Level): FieldError[] {
  const items = field(schema, "items");
  const additional = field(schema, "additionalProperties");
  const isResource = level === "root" || flag(schema, "x-kubernetes-embedded-resource");
  return [
    ...typeErrors(schema, path, level),
    ...keywordErrors(schema, path, level),
    ...(isResource ? metadataErrors(schema, keyed(path, "metadata")) : []),
    ...defaultErrors(schema, `${path}.default`),
    ...values(schema, path),
    ...(isObject(items) ? structure(items, `${path}.items`, "item") : []),
    ...(isObject(additional) ? structure(additional, `${path}.additionalProperties`, "field") : []),
    ...properties(schema).flatMap(([key, inner]) => structure(inner, keyed(path, key), "field")),
  ];
}

function typeErrors(schema: Json, path: string, level: Level): FieldError[] {
  const type = textAt(schema, "type") ?? "";
  const free =
    flag(schema, "x-kubernetes-int-or-string") || flag(schema, "x-kubernetes-preserve-unknown-fields");
  if (type === "") return free ? [] : [required(`${path}.type`, missingType[level])];
  if (!types.includes(type)) return [notSupported(`${path}.type`, type, types)];
  if (level === "root" && type !== "object")
    return [invalid(`${path}.type`, type, "must be object at the root")];
  if (type !== "array" || field(schema, "items") !== undefined) return [];
  return [required(`${path}.items`, "must be specified")];
}

function keywordErrors(schema: Json, path: string, level: Level): FieldError[] {
  const additional = field(schema, "additionalProperties");
  const beside = additional !== undefined && additional !== true && properties(schema).length > 0;
  const list = textAt(schema, "x-kubernetes-list-type") ?? "atomic";
  const notAtomic =
    list === "set" &&
    textAt(schema, "items", "type") === "object" &&
    textAt(schema, "items", "x-kubernetes-map-type") !== "atomic";
  const keyless = list === "map" && listAt(schema, "x-kubernetes-list-map-keys").length === 0;
  const no = (holds: boolean, key: string, why: string): FieldError[] =>
    when(holds, forbidden(`${path}.${key}`, why));
  return [
    ...unsupported.flatMap((key) => no(field(schema, key) !== undefined, key, `${key} is not supported`)),
    ...no(flag(schema, "uniqueItems"), "uniqueItems", quadratic),
    ...no(beside, "additionalProperties", "additionalProperties and properties are mutual exclusive"),
    ...no(
      additional !== undefined && level === "root",
      "additionalProperties",
      "must not be used at the root",
    ),
    ...no(isArray(field(schema, "items")), "items", "items must be a schema object and not an array"),
    ...when(!listTypes.includes(list), notSupported(`${path}.x-kubernetes-list-type`, list, listTypes)),
    ...when(
      notAtomic,
      invalid(
        `${path}.items.x-kubernetes-map-type`,
        null,
        "must be atomic as item of a list with x-kubernetes-list-type=set",
      ),
    ),
    ...(list === "map" ? keyErrors(schema, path) : []),
    ...when(
      keyless,
      required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
    ),
  ];
}

/** What tells items of a list apart is in each of them. */
function keyErrors(schema: Json, path: string): FieldError[] {
  const items = field(schema, "items");
  const keys = textsAt(schema, "x-kubernetes-list-map-keys");
  const nowhere = "entries must all be names of item properties";
  const missing =
    "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
  return keys.flatMap((key) => {
    const property = field(items, "properties", key);
    if (property === undefined) return [invalid(`${path}.x-kubernetes-list-map-keys`, keys, nowhere)];
    const given = textsAt(items, "required").includes(key) || field(property, "default") !== undefined;
    return when(!given, required(`${keyed(`${path}.items`, key)}.default`, missing));
  });
}

/** Metadata is the server's: a schema may say no more about it than what names it takes. */
function metadataErrors(schema: Json, path: string): FieldError[] {
  const metadata = field(schema, "properties", "metadata");
  if (metadata === undefined) return [];
  const named = Object.keys(objectAt(metadata, "properties")).every(
    (key) => key === "name" || key === "generateName",
  );
  const plain = Object.keys(omit(objectAt(metadata), "type", "description", "properties")).length === 0;
  if (textAt(metadata, "type") !== "object")
    return [invalid(`${path}.type`, field(metadata, "type"), "must be object")];
  if (named && plain) return [];
  return [
    forbidden(
      path,
      "must not specify anything other than name and generateName, but metadata is implicitly specified",
    ),
  ];
}

/** A default is data of its own schema: it has to be valid, and to survive pruning. */
function defaultErrors(schema: Json, path: string): FieldError[] {
  const value = field(schema, "default");
  if (value === undefined) return [];
  const unknown: string[] = [];
  pruned(value, schema, "", unknown);
  if (unknown.length > 0) return [invalid(path, value, "must not have unknown fields")];
  return validated(defaulted(value, schema), schema, "").map((error) => ({
    ...error,
    field: error.field === "" ? path : `${path}.${error.field}`,
  }));
}

/** What a schema says about values, with the two ways to say int-or-string that are structural. */
function values(schema: Json, path: string): FieldError[] {
  const isIntOrString = (value: Json): boolean => equal(field(value, "anyOf"), intOrString);
  const nested = junctors(schema).filter(
    ([name, one]) =>
      !(name.startsWith("anyOf") && isIntOrString(schema)) && !(name === "allOf[0]" && isIntOrString(one)),
  );
  const pattern = textAt(schema, "pattern");
  return [
    ...(pattern === undefined ? [] : patternErrors(pattern, `${path}.pattern`)),
    ...nested.flatMap(([name, one]) => nestedValues(one, `${path}.${name}`)),
  ];
}

function nestedValues(schema: Json, path: string): FieldError[] {
  const items = field(schema, "items");
  const misplaced = Object.entries(structureOnly).flatMap(([what, keys]) =>
    keys
      .split(" ")
      .filter((key) => Boolean(field(schema, key) ?? false))
      .map((key) => forbidden(`${path}.${key}`, `must be ${what} to be structural`)),
  );
  return [
    ...misplaced,
    ...values(schema, path),
    ...properties(schema).flatMap(([key, inner]) => nestedValues(inner, keyed(path, key))),
    ...(isObject(items) ? nestedValues(items, `${path}.items`) : []),
  ];
}

function patternErrors(pattern: string, path: string): FieldError[] {
  const problem = patternProblem(pattern);
  return problem === undefined
    ? []
    : [invalid(path, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
}
