// Objects inside of custom resources (x-kubernetes-embedded-resource): their types and metadata are read as those of
// whole objects, whatever the schema says of them.
import { writeJson } from "@drover/json";
import { filledFields, metadataIn, metadataSchema } from "./object-metadata.ts";
import { invalid, required, when } from "./field-errors.ts";
import type { FieldError } from "./field-errors.ts";
import { field, isArray, isObject, isString, listAt, objectAt, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { metadataErrors, nameFaults } from "./names.ts";
import { validated } from "./schema-validation.ts";

const isEmbedded = (schema: Json | undefined): boolean =>
  field(schema, "x-kubernetes-embedded-resource") === true;

/** The schema of a field, and its path. */
function childOf(schema: Json | undefined, key: string, path: string): [Json | undefined, string] {
  const known = field(schema, "properties", key);
  if (known !== undefined) return [known, path === "" ? key : `${path}.${key}`];
  return [field(schema, "additionalProperties"), `${path}[${key}]`];
}

/**
 * The value with the metadata of its embedded objects as far as it is metadata; the paths of other fields are added to
 * `unknown`. Throws what `refusal` makes of a type or metadata that cannot be read.
 */
export function coerced(
  value: Json,
  schema: Json | undefined,
  path: string,
  unknown: string[],
  refusal: (why: string) => Error,
): Json {
  if (isArray(value))
    return value.map((item, i) => coerced(item, field(schema, "items"), `${path}[${i}]`, unknown, refusal));
  if (!isObject(value) || !isObject(schema)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    if (isEmbedded(schema) && key === "metadata")
      return [key, coercedMetadata(inner, `${path}.metadata`, unknown, refusal)];
    if (isEmbedded(schema) && (key === "apiVersion" || key === "kind") && !isString(inner))
      throw refusal(`${path}.${key}: Invalid value: ${writeJson(inner)}: must be a string`);
    const [of, at] = childOf(schema, key, path);
    return [key, coerced(inner, of, at, unknown, refusal)];
  });
  return Object.fromEntries(entries);
}

function coercedMetadata(
  given: Json,
  path: string,
  unknown: string[],
  refusal: (why: string) => Error,
): JsonObject {
  const metadata = metadataIn(given ?? {}, path, unknown);
  if (!metadata) throw refusal(`json: ${path}: it is not an object`);
  const [fault] = validated(metadata, metadataSchema, path);
  if (fault) throw refusal(`json: ${fault.field}: ${fault.body}`);
  return filledFields(metadata);
}

/** What is wrong with the types and the metadata of objects that stand in other objects. */
export function embeddedErrors(value: Json, schema: Json | undefined, path: string): FieldError[] {
  if (isArray(value))
    return value.flatMap((item, i) => embeddedErrors(item, field(schema, "items"), `${path}[${i}]`));
  if (!isObject(value) || !isObject(schema)) return [];
  const own = isEmbedded(schema)
    ? [...typeMetaErrors(value, path), ...ownMetadataErrors(objectAt(value, "metadata"), path)]
    : [];
  const children = Object.entries(value).flatMap(([key, inner]) => {
    const [of, at] = childOf(schema, key, path);
    return embeddedErrors(inner, of, at);
  });
  return [...own, ...children];
}

function typeMetaErrors(value: JsonObject, path: string): FieldError[] {
  const [apiVersion, kind] = [textAt(value, "apiVersion"), textAt(value, "kind")];
  const missing = ["apiVersion", "kind"].filter((key) => field(value, key) === undefined);
  const empty = ["apiVersion", "kind"].filter((key) => field(value, key) === "");
  const mixed = "may have mixed case, but should otherwise match: ";
  return [
    ...missing.map((key) => required(`${path}.${key}`)),
    ...empty.map((key) => invalid(`${path}.${key}`, "", "must not be empty")),
    ...when(
      (apiVersion ?? "").split("/").length > 2,
      invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion ?? ""}`),
    ),
    ...(kind ? nameFaults("version", kind.toLowerCase()) : []).map((fault) =>
      invalid(`${path}.kind`, kind, `${mixed}${fault}`),
    ),
  ];
}

/** A name is not needed, and may be that of any kind. */
function ownMetadataErrors(metadata: JsonObject, path: string): FieldError[] {
  const namespace = textAt(metadata, "namespace") ?? "";
  const rules = { nameRule: "path", namespaced: namespace !== "", custom: true } as const;
  const errors = metadataErrors(rules, { ...metadata, name: textAt(metadata, "name") || "any" });
  const places = namespace === "" ? [] : nameFaults("label", namespace);
  const operations = listAt(metadata, "managedFields").flatMap((entry, i) => {
    const operation = textAt(entry, "operation") ?? "";
    const at = `metadata.managedFields[${i}].operation`;
    return when(
      !["Apply", "Update"].includes(operation),
      invalid(at, operation, "must be `Apply` or `Update`"),
    );
  });
  return [
    ...errors,
    ...places.map((fault) => invalid("metadata.namespace", namespace, fault)),
    ...operations,
  ].map((error) => ({ ...error, field: `${path}.${error.field}` }));
}
