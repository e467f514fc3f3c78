// The errors of a schema that is not structural, as apiextensions-apiserver reports them
// (pkg/apiserver/schema/validation.go and complete.go): the structure of an object is described outside of allOf,
// anyOf, oneOf and not, and only there. Also the errors of defaults that do not fit their own schemas.
import { forbidden, invalid, required, when } from "../admission/field-errors.ts";
import type { FieldError } from "../admission/field-errors.ts";
import { equal, field, isObject, isTrueAt, listAt, objectAt, omit, sorted, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { loadedRules } from "../rules/lazy-rules.ts";
import { isUnsupported, openApiErrors } from "./openapi-schema.ts";
import { patternProblem } from "./pattern.ts";
import { pruned } from "./schema-fitting.ts";
import { below, hasRules, validated } from "./schema-validation.ts";

type Level = "root" | "item" | "field";

/** Keywords of the structure, by the value that they must have inside of allOf, anyOf, oneOf or not. */
const structureOnly: Readonly<Record<string, string>> = {
  empty: "type title description x-kubernetes-list-map-keys x-kubernetes-validations",
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
const embedded: JsonObject = { "x-kubernetes-embedded-resource": true };
const keyed = (path: string, key: string): string => `${path}.properties[${key}]`;
const properties = (schema: Json): [string, Json][] => Object.entries(objectAt(schema, "properties"));
const junctors = (schema: Json): [string, Json][] => [
  ...["allOf", "anyOf", "oneOf"].flatMap((name) =>
    listAt(schema, name).map((one, i): [string, Json] => [`${name}[${i}]`, one]),
  ),
  ...Object.entries(objectAt(schema)).filter(([key]) => key === "not"),
];

/** The errors of the schema of a definition; `path` is its place in the definition. */
export function schemaErrors(schema: Json, path: string, withStatus: boolean): FieldError[] {
  const structural = isUnsupported(schema)
    ? []
    : [...structure(schema, path, "root"), ...incomplete(schema, schema, path, path)];
  const problems = [
    ...(withStatus ? besideStatus(schema, path) : []),
    ...when(
      isTrueAt(schema, "nullable"),
      forbidden(`${path}.nullable`, "nullable cannot be true at the root"),
    ),
    ...structural,
  ];
  const defaults = structural.length > 0 || isUnsupported(schema) ? [] : defaultErrors(schema, path, true);
  const errors = [...problems, ...defaults, ...openApiErrors(schema, path)];
  return errors.length > 0 || !hasRules(schema) ? errors : loadedRules().compileErrors(schema, path);
}

const besideStatusFields =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
/** Keywords that a root must not have if the status is a subresource. */
const notBesideStatus =
  "id $schema $ref nullable default maxProperties minProperties enum allOf oneOf anyOf not additionalProperties patternProperties dependencies additionalItems definitions x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type";

function besideStatus(schema: Json, path: string): FieldError[] {
  const type = textAt(schema, "type") ?? "";
  const only =
    'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
  if (type !== "object" && type !== "") return [invalid(`${path}.type`, type, only)];
  const isSaid = (key: string): boolean => {
    const given = field(schema, key);
    return given !== undefined && given !== false && given !== "" && !(given === null);
  };
  const why = `only [${besideStatusFields}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return when(notBesideStatus.split(" ").some(isSaid), invalid(path, schema, why));
}

function structure(schema: Json, path: string, level: Level): FieldError[] {
  const items = field(schema, "items");
  const additional = field(schema, "additionalProperties");
  return [
    ...typeErrors(schema, path, level),
    ...extensionErrors(schema, path, level),
    ...metaErrors(schema, path, level),
    ...values(schema, path),
    ...(isObject(items) ? structure(items, `${path}.items`, "item") : []),
    ...(isObject(additional) ? structure(additional, `${path}.additionalProperties`, "field") : []),
    ...properties(schema).flatMap(([key, inner]) => structure(inner, keyed(path, key), "field")),
  ];
}

function typeErrors(schema: Json, path: string, level: Level): FieldError[] {
  const type = textAt(schema, "type") ?? "";
  const at = `${path}.type`;
  const notObject = "must be object if x-kubernetes-embedded-resource is true";
  const free =
    isTrueAt(schema, "x-kubernetes-int-or-string") ||
    isTrueAt(schema, "x-kubernetes-preserve-unknown-fields");
  const own =
    isTrueAt(schema, "x-kubernetes-embedded-resource") && type !== "object"
      ? [type === "" ? required(at, notObject) : invalid(at, type, notObject)]
      : when(type === "" && !free, required(at, missingType[level]));
  return [
    ...own,
    ...when(
      level === "root" && type !== "" && type !== "object",
      invalid(at, type, "must be object at the root"),
    ),
    ...when(
      type === "array" && field(schema, "items") === undefined,
      required(`${path}.items`, "must be specified"),
    ),
  ];
}

function extensionErrors(schema: Json, path: string, level: Level): FieldError[] {
  const [keeps, whole] = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"];
  const mixed = isTrueAt(schema, "x-kubernetes-int-or-string");
  const why = "must be false if x-kubernetes-int-or-string is true";
  const additional = field(schema, "additionalProperties");
  const bare = `must not be empty if ${whole} is true without ${keeps}`;
  const isEmbedded = isTrueAt(schema, whole);
  const isBare = isEmbedded && !isTrueAt(schema, keeps) && properties(schema).length === 0;
  const notEmbedded = `must not be used if ${whole} is set`;
  return [
    ...when(mixed && isTrueAt(schema, keeps), invalid(`${path}.${keeps}`, true, why)),
    ...when(mixed && isEmbedded, invalid(`${path}.${whole}`, true, why)),
    ...when(
      additional !== undefined && level === "root",
      forbidden(`${path}.additionalProperties`, "must not be used at the root"),
    ),
    ...when(additional !== undefined && isEmbedded, forbidden(`${path}.additionalProperties`, notEmbedded)),
    ...when(isBare, required(`${path}.properties`, bare)),
  ];
}

/** The errors of schemas of apiVersion, kind and metadata: a schema may restrict only the names of a root object. */
function metaErrors(schema: Json, path: string, level: Level): FieldError[] {
  if (level !== "root" && !isTrueAt(schema, "x-kubernetes-embedded-resource")) return [];
  const ofType = (key: string, wanted: string): FieldError[] => {
    const property = field(schema, "properties", key);
    const type = textAt(property, "type") ?? "";
    const isWrong = property !== undefined && type !== wanted;
    return when(isWrong, invalid(`${keyed(path, key)}.type`, type, `must be ${wanted}`));
  };
  const metadata = field(schema, "properties", "metadata");
  const isRestricted = level === "root" && metadata !== undefined && !isPlain(metadata);
  return [
    ...ofType("kind", "string"),
    ...ofType("apiVersion", "string"),
    ...ofType("metadata", "object"),
    ...when(
      isRestricted,
      forbidden(
        keyed(path, "metadata"),
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    ),
  ];
}

/** True if the schema of metadata restricts only names. */
function isPlain(metadata: Json): boolean {
  const named = Object.keys(objectAt(metadata, "properties")).every(
    (key) => key === "name" || key === "generateName",
  );
  const { default: _, ...rest } = omit(objectAt(metadata), "type", "properties");
  return named && Object.values(rest).every((value) => value === "" || value === false);
}

/** The errors of defaults: a default must be valid by its schema, and have no unknown fields. */
function defaultErrors(schema: Json, path: string, isRoot: boolean): FieldError[] {
  const items = field(schema, "items");
  const isResource = isRoot || isTrueAt(schema, "x-kubernetes-embedded-resource");
  // The server does not check defaults of types and metadata by the schema.
  const fields = properties(schema).filter(
    ([key]) => !(isResource && ["apiVersion", "kind", "metadata"].includes(key)),
  );
  return [
    // The root object always has types and metadata.
    ...ownDefault(isRoot ? { ...objectAt(schema), ...embedded } : schema, `${path}.default`),
    ...(isObject(items) ? defaultErrors(items, `${path}.items`, false) : []),
    ...fields.flatMap(([key, inner]) => defaultErrors(inner, keyed(path, key), false)),
  ];
}

function ownDefault(schema: Json, path: string): FieldError[] {
  const value = field(schema, "default") ?? null;
  if (value === null) return [];
  const unknown: string[] = [];
  pruned(value, schema, "", unknown);
  const stale = when(unknown.length > 0, invalid(path, sorted(value), "must not have unknown fields"));
  return [...stale, ...below(path, validated(value, schema, ""))];
}

/** The errors of the keywords about values. Two forms of int-or-string are structural. */
function values(schema: Json, path: string): FieldError[] {
  const isIntOrString = (value: Json): boolean => equal(field(value, "anyOf"), intOrString);
  const nested = junctors(schema).filter(([name]) => !(name.startsWith("anyOf") && isIntOrString(schema)));
  return [
    ...patternErrors(schema, `${path}.pattern`),
    ...nested.flatMap(([name, one]) =>
      nestedValues(
        name === "allOf[0]" && isIntOrString(one) ? omit(objectAt(one), "anyOf") : one,
        `${path}.${name}`,
      ),
    ),
  ];
}

function nestedValues(schema: Json, path: string): FieldError[] {
  const items = field(schema, "items");
  // A boolean additionalProperties is not a schema.
  const isSaid = (key: string): boolean => {
    const value = field(schema, key) ?? false;
    return value !== false && value !== "" && !(key === "additionalProperties" && value === true);
  };
  const misplaced = Object.entries(structureOnly).flatMap(([what, keys]) =>
    keys
      .split(" ")
      .filter(isSaid)
      .map((key) => forbidden(`${path}.${key}`, `must be ${what} to be structural`)),
  );
  const metadata = field(schema, "properties", "metadata");
  return [
    ...misplaced,
    ...when(
      metadata !== undefined,
      forbidden(keyed(path, "metadata"), "must not be specified in a nested context"),
    ),
    ...nestedJunctors(schema, path),
    ...properties(schema).flatMap(([key, inner]) => nestedValues(inner, keyed(path, key))),
    ...(isObject(items) ? nestedValues(items, `${path}.items`) : []),
  ];
}

/** The same inside of allOf, anyOf, oneOf and not, where no form of int-or-string is permitted. */
function nestedJunctors(schema: Json, path: string): FieldError[] {
  return [
    ...patternErrors(schema, `${path}.pattern`),
    ...junctors(schema).flatMap(([name, one]) => nestedValues(one, `${path}.${name}`)),
  ];
}

function patternErrors(schema: Json, path: string): FieldError[] {
  const pattern = textAt(schema, "pattern") ?? "";
  const problem = pattern === "" ? undefined : patternProblem(pattern);
  const why = `must be a valid regular expression, but isn't: ${problem ?? ""}`;
  return when(problem !== undefined, invalid(path, pattern, why));
}

/**
 * The errors of parts that are described, but missing in the structure; `at` is the place in the structure. For roots
 * only.
 */
function incomplete(schema: Json, spine: Json | undefined, path: string, at: string): FieldError[] {
  if (spine === undefined) return [required(at, `because it is defined in ${path}`)];
  return junctors(schema).flatMap(([name, one]) => incompleteIn(one, spine, `${path}.${name}`, at));
}

function incompleteIn(schema: Json, spine: Json | undefined, path: string, at: string): FieldError[] {
  const own = incomplete(schema, spine, path, at);
  if (spine === undefined) return own;
  const items = field(schema, "items");
  const inItems = isObject(items)
    ? incompleteIn(items, field(spine, "items"), `${path}.items`, `${at}.items`)
    : [];
  const inFields = properties(schema).flatMap(([key, inner]) =>
    incompleteIn(inner, field(spine, "properties", key), keyed(path, key), keyed(at, key)),
  );
  return [...own, ...inItems, ...inFields];
}
