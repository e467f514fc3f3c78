// Whether a CustomResourceDefinition's schema is structural, as apiextensions-apiserver asks before it serves one.
import { forbidden, invalid, notSupported, required } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { equal, field, isArray, isObject, isString, listAt, omit, objectAt, textAt } from "./json.ts";
import type { Json } from "./json.ts";
import { defaulted, pruned } from "./schema-fitting.ts";
import { patternOf, validated } from "./schema-validation.ts";

type Level = "root" | "item" | "field";

const types = ["array", "boolean", "integer", "number", "object", "string"];
/** Keywords of JSON schema that no definition may use. */
const unsupported = [
  "$ref",
  "definitions",
  "dependencies",
  "id",
  "patternProperties",
  "additionalItems",
  "$schema",
];
/** Keywords that belong to the structure, not inside allOf, anyOf, oneOf or not. */
const structureOnly: readonly (readonly [string, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
];
const missingType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
const intOrString: Json = [{ type: "integer" }, { type: "string" }];
const flag = (schema: Json, name: string): boolean => field(schema, name) === true;
const keyed = (path: string, key: string): string => `${path}.properties[${key}]`;
const properties = (schema: Json): [string, Json][] => Object.entries(objectAt(schema, "properties"));

/** Everything that keeps a schema from being structural; `path` is where it stands in the definition. */
export const structuralErrors = (schema: Json, path: string): FieldError[] => [
  ...structureErrors(schema, path, "root"),
  ...completenessErrors(schema, schema, path),
];

function structureErrors(schema: Json, path: string, level: Level): FieldError[] {
  const items = field(schema, "items");
  const additional = field(schema, "additionalProperties");
  return [
    ...typeErrors(schema, path, level),
    ...keywordErrors(schema, path, level),
    ...(level === "root" || flag(schema, "x-kubernetes-embedded-resource") ? rootErrors(schema, path) : []),
    ...valueErrors(schema, path),
    ...(isObject(items) ? structureErrors(items, `${path}.items`, "item") : []),
    ...properties(schema).flatMap(([key, inner]) => structureErrors(inner, keyed(path, key), "field")),
    ...(isObject(additional) ? structureErrors(additional, `${path}.additionalProperties`, "field") : []),
    ...defaultErrors(schema, path),
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
  if (type === "array" && field(schema, "items") === undefined)
    return [required(`${path}.items`, "must be specified")];
  return [];
}

function keywordErrors(schema: Json, path: string, level: Level): FieldError[] {
  const errors = unsupported
    .filter((key) => field(schema, key) !== undefined)
    .map((key) => forbidden(`${path}.${key}`, `${key} is not supported`));
  if (flag(schema, "uniqueItems"))
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  const additional = field(schema, "additionalProperties");
  if (additional !== undefined && properties(schema).length > 0)
    errors.push(
      forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  if (additional === false)
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties cannot be set to false"));
  if (additional !== undefined && level === "root")
    errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
  if (isArray(field(schema, "items")))
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  const list = textAt(schema, "x-kubernetes-list-type");
  if (list !== undefined && !["atomic", "set", "map"].includes(list))
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, list, ["atomic", "set", "map"]));
  if (list === "map" && listAt(schema, "x-kubernetes-list-map-keys").length === 0)
    errors.push(
      required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"),
    );
  return errors;
}

/** Type and object metadata are the server's: a schema may say no more about them than their types and names. */
function rootErrors(schema: Json, path: string): FieldError[] {
  const errors = ["kind", "apiVersion"].flatMap((key) => {
    const type = field(schema, "properties", key, "type");
    return type === undefined || type === "string"
      ? []
      : [invalid(`${keyed(path, key)}.type`, type, "must be string")];
  });
  const metadata = field(schema, "properties", "metadata");
  if (metadata === undefined) return errors;
  const { type, properties: named, ...rest } = omit(objectAt(metadata), "description");
  if (type !== "object") errors.push(invalid(`${keyed(path, "metadata")}.type`, type, "must be object"));
  const free = Object.keys(objectAt(named)).every((key) => key === "name" || key === "generateName");
  if (!free || Object.keys(rest).length > 0)
    errors.push(
      forbidden(
        keyed(path, "metadata"),
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
  return errors;
}

/** A default is data of its own schema: it has to be valid, and to survive pruning. */
function defaultErrors(schema: Json, path: string): FieldError[] {
  const value = field(schema, "default");
  if (value === undefined) return [];
  const at = `${path}.default`;
  const unknown: string[] = [];
  pruned(value, schema, "", unknown);
  if (unknown.length > 0) return [invalid(at, value, `must not have unknown fields: ${unknown.join(", ")}`)];
  return validated(defaulted(value, schema), schema, "").map(({ reason, field: where, body }) => ({
    reason,
    field: where === "" ? at : `${at}.${where}`,
    body,
  }));
}

/** Patterns and junctors of a schema, structural or nested. */
function valueErrors(schema: Json, path: string): FieldError[] {
  const nested = ["allOf", "anyOf", "oneOf"].flatMap((junctor) => {
    const exempt = equal(field(schema, junctor) ?? null, intOrString) && junctor === "anyOf";
    return exempt
      ? []
      : listAt(schema, junctor).flatMap((one, i) => nestedErrors(one, `${path}.${junctor}[${i}]`));
  });
  const not = field(schema, "not");
  return [
    ...patternErrors(schema, path),
    ...nested,
    ...(not === undefined ? [] : nestedErrors(not, `${path}.not`)),
  ];
}

function patternErrors(schema: Json, path: string): FieldError[] {
  const pattern = field(schema, "pattern");
  if (!isString(pattern)) return [];
  try {
    patternOf(pattern);
    return [];
  } catch (error) {
    return [
      invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${String(error)}`),
    ];
  }
}

function nestedErrors(schema: Json, path: string): FieldError[] {
  const onlyIntOrString =
    equal(omit(objectAt(schema), "anyOf"), {}) && equal(field(schema, "anyOf") ?? null, intOrString);
  if (onlyIntOrString) return [];
  const items = field(schema, "items");
  return [
    ...structureOnly
      .filter(([key]) => ![undefined, false, ""].some((none) => none === field(schema, key)))
      .map(([key, why]) => forbidden(`${path}.${key}`, why)),
    ...(field(schema, "properties", "metadata") === undefined
      ? []
      : [forbidden(keyed(path, "metadata"), "must not be specified in a nested context")]),
    ...valueErrors(schema, path),
    ...properties(schema).flatMap(([key, inner]) => nestedErrors(inner, keyed(path, key))),
    ...(isObject(items) ? nestedErrors(items, `${path}.items`) : []),
  ];
}
/** Whatever a junctor speaks of must also stand in the structure, or it would be pruned before it is validated. */
function completenessErrors(schema: Json, structure: Json | undefined, path: string): FieldError[] {
  const nested = (value: Json, shape: Json | undefined, at: string, from: string): FieldError[] => {
    const items = field(value, "items");
    const open = field(shape, "additionalProperties");
    return [
      ...properties(value).flatMap(([key, inner]) => {
        const known = field(shape, "properties", key) ?? (isObject(open) ? open : undefined);
        const where = keyed(from, key);
        if (known === undefined) return [required(keyed(at, key), `because it is defined in ${where}`)];
        return nested(inner, known, keyed(at, key), where);
      }),
      ...(isObject(items) ? nested(items, field(shape, "items"), `${at}.items`, `${from}.items`) : []),
      ...junctorsOf(value).flatMap(([one, name]) => nested(one, shape, at, `${from}.${name}`)),
    ];
  };
  return [
    ...junctorsOf(schema).flatMap(([one, name]) => nested(one, structure, path, `${path}.${name}`)),
    ...properties(schema).flatMap(([key, inner]) => completenessErrors(inner, inner, keyed(path, key))),
    ...(isObject(field(schema, "items"))
      ? completenessErrors(objectAt(schema, "items"), objectAt(schema, "items"), `${path}.items`)
      : []),
  ];
}
const junctorsOf = (schema: Json): [Json, string][] => [
  ...["allOf", "anyOf", "oneOf"].flatMap((name) =>
    listAt(schema, name).map((one, i): [Json, string] => [one, `${name}[${i}]`]),
  ),
  ...(field(schema, "not") === undefined ? [] : [[objectAt(schema, "not"), "not"] as [Json, string]]),
];
