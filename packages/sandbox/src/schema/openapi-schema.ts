// The keywords that the schema of a definition may have, and their places (apiextensions-apiserver,
// ValidateCustomResourceDefinitionOpenAPISchema). rules/compile-errors.ts has the errors of rules that do not compile.
import { forbidden, invalid, notSupported, required, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { field, isArray, isObject, isTrueAt, listAt, objectAt, textAt, textsAt } from "../json.ts";
import type { Json } from "../json.ts";
import { fieldPathIn } from "../rules/field-path.ts";

/** The place of a schema in the schema of the object. */
interface Place {
  readonly root?: boolean;
  /** True inside of the metadata, the kind or the apiVersion of an object. */
  readonly meta?: boolean;
  /** The reason why this place permits no default. */
  readonly noDefaults?: string;
}

export const schemaTypes = ["array", "boolean", "integer", "number", "object", "string"];
const listTypes = ["atomic", "set", "map"];
const mapTypes = ["atomic", "granular"];
const unsupported = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
const quadratic = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
const isGiven = (value: Json | undefined): boolean =>
  value !== undefined && value !== "" && !(isObject(value) && Object.keys(value).length === 0);

/** True if a schema contains a keyword, at any depth, that no definition may have. */
export const isUnsupported = (schema: Json | undefined): boolean =>
  isObject(schema) &&
  (unsupported.some((key) => isGiven(field(schema, key))) ||
    isArray(field(schema, "items")) ||
    parts(schema, "").some(([, part]) => isUnsupported(part)));

/** The schemas directly in a schema, with their paths. */
export const parts = (schema: Json, path: string): [path: string, part: Json, key: string][] => [
  ...["not", "items", "additionalProperties"].flatMap((key): [string, Json, string][] => {
    const part = field(schema, key);
    return isObject(part) ? [[`${path}.${key}`, part, key]] : [];
  }),
  ...["allOf", "anyOf", "oneOf"].flatMap((key) =>
    listAt(schema, key).map((one, i): [string, Json, string] => [`${path}.${key}[${i}]`, one, key]),
  ),
  ...Object.entries(objectAt(schema, "properties")).map(([key, one]): [string, Json, string] => [
    `${path}.properties[${key}]`,
    one,
    `properties.${key}`,
  ]),
];

const metaFields = ["metadata", "kind", "apiVersion"];
/** The place of a part of a schema. */
function placeOf(schema: Json, key: string, place: Place): Place {
  const { root = false, ...inside } = place;
  if (key === "additionalProperties" && inside.meta)
    return { ...inside, noDefaults: "inside additionalProperties applying to object metadata" };
  const name = key.startsWith("properties.") ? key.slice("properties.".length) : "";
  if (!metaFields.includes(name) || !(root || isTrueAt(schema, "x-kubernetes-embedded-resource")))
    return inside;
  return { ...inside, meta: true, ...(root && { noDefaults: `in top-level ${name}` }) };
}

/** The errors of the keywords of a schema, structural or not. */
export const openApiErrors = (schema: Json, path: string, place: Place = { root: true }): FieldError[] => [
  ...wordErrors(schema, path, place),
  ...typedErrors(schema, path),
  ...listErrors(schema, path),
  ...ruleErrors(schema, path),
  ...parts(schema, path).flatMap(([at, part, key]) => openApiErrors(part, at, placeOf(schema, key, place))),
];

function wordErrors(schema: Json, path: string, place: Place): FieldError[] {
  const type = textAt(schema, "type") ?? "";
  const additional = field(schema, "additionalProperties");
  const isMixed = additional !== undefined && additional !== true && isGiven(objectAt(schema, "properties"));
  const no = (holds: boolean, key: string, why: string): FieldError[] =>
    when(holds, forbidden(`${path}.${key}`, why));
  const noDefault = `must not be set ${place.noDefaults ?? ""}`;
  const noNull = "type cannot be set to null, use nullable as an alternative";
  return [
    ...when(type !== "" && !schemaTypes.includes(type), notSupported(`${path}.type`, type, schemaTypes)),
    ...no(
      place.noDefaults !== undefined && (field(schema, "default") ?? null) !== null,
      "default",
      noDefault,
    ),
    ...unsupported.flatMap((key) => no(isGiven(field(schema, key)), key, `${key} is not supported`)),
    ...no(type === "null", "type", noNull),
    ...no(isArray(field(schema, "items")), "items", "items must be a schema object and not an array"),
    ...no(
      place.meta === true && isTrueAt(schema, "x-kubernetes-embedded-resource"),
      "x-kubernetes-embedded-resource",
      "must not be used inside of resource meta",
    ),
    ...no(isTrueAt(schema, "uniqueItems"), "uniqueItems", quadratic),
    ...no(isMixed, "additionalProperties", "additionalProperties and properties are mutual exclusive"),
    ...when(
      field(schema, "x-kubernetes-preserve-unknown-fields") === false,
      invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"),
    ),
  ];
}

/** The errors of the types of lists and maps. */
function typedErrors(schema: Json, path: string): FieldError[] {
  const type = textAt(schema, "type") ?? "";
  const check = (key: string, wanted: string, known: readonly string[]): FieldError[] => {
    const given = textAt(schema, key);
    const why = `must be ${wanted} if ${key} is specified`;
    const fault = type === "" ? required(`${path}.type`, why) : invalid(`${path}.type`, type, why);
    return given === undefined
      ? []
      : [
          ...when(type !== wanted, fault),
          ...when(!known.includes(given), notSupported(`${path}.${key}`, given, known)),
        ];
  };
  return [
    ...check("x-kubernetes-map-type", "object", mapTypes),
    ...check("x-kubernetes-list-type", "array", listTypes),
  ];
}

function listErrors(schema: Json, path: string): FieldError[] {
  const list = textAt(schema, "x-kubernetes-list-type");
  const items = field(schema, "items");
  const keys = listAt(schema, "x-kubernetes-list-map-keys");
  const keyed = "must be map if x-kubernetes-list-map-keys is non-empty";
  const at = `${path}.x-kubernetes-list-type`;
  const notMap = list === undefined ? required(at, keyed) : invalid(at, list, keyed);
  return [
    ...when(keys.length > 0 && list !== "map", notMap),
    ...(list === "set" && textAt(schema, "type") === "array" && isObject(items)
      ? setErrors(items, path)
      : []),
    ...(list === "map" ? keyErrors(schema, path) : []),
    ...when(
      (list === "set" || list === "map") && isTrueAt(items, "nullable"),
      forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${list ?? ""}`),
    ),
  ];
}

function setErrors(items: Json, path: string): FieldError[] {
  const type = textAt(items, "type");
  const [list, map] = [textAt(items, "x-kubernetes-list-type"), textAt(items, "x-kubernetes-map-type")];
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  return [
    ...when(
      type === "array" && list !== undefined && list !== "atomic",
      invalid(`${path}.items.x-kubernetes-list-type`, list, why),
    ),
    ...when(
      type === "object" && map !== "atomic",
      invalid(`${path}.items.x-kubernetes-map-type`, list ?? null, why),
    ),
  ];
}

/** The errors of the keys of a list: each item must have them. */
function keyErrors(schema: Json, path: string): FieldError[] {
  const items = field(schema, "items");
  const keys = textsAt(schema, "x-kubernetes-list-map-keys");
  const type = textAt(items, "type") ?? "";
  const at = `${path}.x-kubernetes-list-map-keys`;
  const wrongType = "must be object if parent array's x-kubernetes-list-type is map";
  const isOfObjects = isObject(items) && type === "object";
  return [
    ...when(keys.length === 0, required(at, "must not be empty if x-kubernetes-list-type is map")),
    ...when(
      items === undefined,
      required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"),
    ),
    ...when(isObject(items) && type !== "object", invalid(`${path}.items.type`, type, wrongType)),
    ...(isOfObjects ? keys.flatMap((key, i) => keyError(items, keys, i, key, path, at)) : []),
    ...(isObject(items) ? keys.flatMap((key) => unsureErrors(items, key, path)) : []),
  ];
}

function keyError(
  items: Json,
  keys: readonly string[],
  i: number,
  key: string,
  path: string,
  at: string,
): FieldError[] {
  const property = field(items, "properties", key);
  const isScalar = !["array", "object"].includes(textAt(property, "type") ?? "");
  const notScalar = "must be a scalar type if parent array's x-kubernetes-list-type is map";
  return [
    ...when(property === undefined, invalid(at, keys, "entries must all be names of item properties")),
    ...when(!isScalar, invalid(`${path}.items.properties[${key}].type`, textAt(items, "type"), notScalar)),
    ...when(keys.indexOf(key) < i, invalid(at, keys, "must not contain duplicate entries")),
  ];
}

/** The error of a key that an item may lack. */
function unsureErrors(items: Json, key: string, path: string): FieldError[] {
  const property = field(items, "properties", key);
  if (property === undefined) return [];
  const at = `${path}.items.properties[${key}]`;
  const why = "this property is in x-kubernetes-list-map-keys, so it";
  const isSure = textsAt(items, "required").includes(key) || (field(property, "default") ?? null) !== null;
  return [
    ...when(!isSure, required(`${at}.default`, `${why} must have a default or be a required property`)),
    ...when(isTrueAt(property, "nullable"), forbidden(`${at}.nullable`, `${why} cannot be nullable`)),
  ];
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const hasBreaks = (text: string): boolean => /[\n\r]/.test(text);

const pathFaults = (path: string, schema: Json): string[] => [
  ...(path !== "" && path.trim() === "" ? ["must be non-empty if specified"] : []),
  ...(hasBreaks(path) ? ["must not contain line breaks"] : []),
  ...(path !== "" && fieldPathIn(path, schema) === undefined ? ["must be a valid path"] : []),
];

/** The errors of the texts of rules. */
const ruleErrors = (schema: Json, path: string): FieldError[] =>
  listAt(schema, "x-kubernetes-validations").flatMap((one, i) => {
    const text = (key: string): string => textAt(one, key) ?? "";
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const [rule, message, reason] = [text("rule").trim(), text("message"), textAt(one, "reason")];
    const isBlank = (key: string): boolean => text(key) !== "" && text(key).trim() === "";
    const first =
      rule === ""
        ? [required(`${at}.rule`, "rule is not specified")]
        : isBlank("message")
          ? [invalid(`${at}.message`, message, "must be non-empty if specified")]
          : hasBreaks(message.trim())
            ? [invalid(`${at}.message`, message, "must not contain line breaks")]
            : when(
                hasBreaks(rule) && message.trim() === "",
                required(`${at}.message`, "message must be specified if rule contains line breaks"),
              );
    return [
      ...first,
      ...when(
        isBlank("messageExpression"),
        required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"),
      ),
      ...when(
        reason !== undefined && !reasons.includes(reason),
        notSupported(`${at}.reason`, reason ?? "", reasons),
      ),
      ...pathFaults(text("fieldPath"), schema).map((why) =>
        invalid(`${at}.fieldPath`, text("fieldPath"), why),
      ),
    ];
  });
