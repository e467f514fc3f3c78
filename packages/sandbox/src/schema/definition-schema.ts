// The schema of a definition as a server keeps it: without unknown keywords, and without empty ones that Go leaves out.
import { isArray, isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

const texts = "id $schema description type format title pattern";
const flags =
  "exclusiveMaximum exclusiveMinimum uniqueItems nullable x-kubernetes-embedded-resource x-kubernetes-int-or-string";
const lists = "enum required x-kubernetes-list-map-keys x-kubernetes-validations";
/** Keywords that are kept even if they are empty: pointers in Go. */
const pointers =
  "$ref default maximum minimum maxLength minLength maxItems minItems multipleOf maxProperties minProperties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-list-type x-kubernetes-map-type";
const schemas = "items not additionalProperties additionalItems";
const schemaLists = "allOf oneOf anyOf";
const schemaMaps = "properties patternProperties definitions dependencies";

const words = new Map(
  Object.entries({ texts, flags, lists, pointers, schemas, schemaLists, schemaMaps }).flatMap(([sort, all]) =>
    all.split(" ").map((word): [string, string] => [word, sort]),
  ),
);
const isEmpty = (value: Json): boolean =>
  value === "" ||
  value === false ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** One keyword of a schema as it is kept, or undefined. */
function keptWord(word: string, value: Json): Json | undefined {
  const sort = words.get(word);
  if (sort === undefined || value === null) return undefined;
  if (sort === "pointers") return value;
  if (sort === "schemas") return isArray(value) ? value.map(keptSchema) : keptSchema(value);
  if (isEmpty(value)) return undefined;
  if (sort === "schemaLists") return isArray(value) ? value.map(keptSchema) : value;
  if (sort !== "schemaMaps" || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, keptSchema(one)]));
}

/** The schema as it is kept. */
export function keptSchema(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([word, value]): [string, Json][] => {
    const kept = keptWord(word, value);
    return kept === undefined ? [] : [[word, kept]];
  });
  return Object.fromEntries<Json>(entries) satisfies JsonObject;
}
