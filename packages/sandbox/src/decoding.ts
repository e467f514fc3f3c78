// A request's body, as an object of the kind that its path names.
import { invalid } from "./field-errors.ts";
import { field, isArray, isObject, omit, textAt } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { nameOf, withTop } from "./kube-object.ts";
import type { KubeObject } from "./kube-object.ts";
import { apiVersionOf, fitted } from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";
import { defaulted, pruned } from "./schema-fitting.ts";
import { validated } from "./schema-validation.ts";
import { anyObject, boolean, each, fields, integer, listOf, mapOf, string, strings } from "./schema-words.ts";
import { atomic, listBy, setOf } from "./schema-words.ts";
import { badRequest, invalidObject } from "./status.ts";

/** What happens to fields that a kind does not know: 400, a Warning header, or nothing. They are never stored. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";

const owner = atomic(
  fields({
    ...strings("apiVersion kind name uid"),
    ...each("controller blockOwnerDeletion", boolean),
  }),
);
/** Of every object's metadata. */
export const metadataSchema = fields({
  ...strings("name generateName namespace selfLink uid resourceVersion creationTimestamp deletionTimestamp"),
  ...each("generation deletionGracePeriodSeconds", integer),
  ...each("labels annotations", mapOf(string)),
  finalizers: setOf(string),
  ownerReferences: listBy("uid", owner),
  managedFields: listOf(anyObject),
});

/** Metadata fields that mean nothing when they are empty: Go's `omitempty`. */
const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

const mismatch = (type: ResourceType, kind: string, version: string, why: string): Error =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: ${why}`);

function typeMetaOf(type: ResourceType, body: JsonObject): { apiVersion: string; kind: string } {
  const expected = apiVersionOf(type);
  const apiVersion = textAt(body, "apiVersion") ?? (type.custom ? "" : expected);
  const kind = textAt(body, "kind") ?? (type.custom ? "" : type.kind);
  if (kind === "")
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${JSON.stringify(body)}'`,
    );
  if (apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  if (kind === type.kind) return { apiVersion, kind };
  if (!type.custom) throw mismatch(type, kind, type.version, "it is of another kind");
  throw invalidObject({ group: type.group, kind }, nameOf(body), [
    invalid("kind", kind, `must be ${type.kind}`),
  ]);
}

/**
 * Checks the type, drops what the kind does not know, and sets defaults.
 * `unknown` is given the path of every field that was dropped.
 * Throws 400 for another kind or version, and for wrong types where Go would fail to decode them: in metadata, and
 * anywhere in a built-in kind. (Wrong types in a custom resource are 422 and come from its schema.) Nulls that mean
 * nothing are dropped, but kept for the schema to refuse where the object comes from server-side apply.
 */
export function decoded(type: ResourceType, body: Json, unknown: string[], keepNulls = false): KubeObject {
  if (!isObject(body))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): it is not a JSON object`,
    );
  const { apiVersion, kind } = typeMetaOf(type, body);
  const given = withoutNulls(body["metadata"] ?? {}, unknown);
  const content = fitted(type, { ...body, apiVersion, kind, metadata: {} }, unknown, keepNulls);
  const wrong = [
    ...validated(given, metadataSchema, "metadata"),
    ...(type.custom ? [] : validated(omit(content, "metadata"), type.schema, "")),
  ].find(({ reason }) => reason === "FieldValueTypeInvalid");
  if (wrong) throw mismatch(type, kind, type.version, `json: ${wrong.field}: ${wrong.body}`);
  const metadata = Object.fromEntries(Object.entries(given).filter(([, value]) => !isEmpty(value)));
  return type.custom ? { ...content, metadata } : { ...withoutEmptyCollections(type, content), metadata };
}

function withoutNulls(given: Json, unknown: string[]): JsonObject {
  const known = defaulted(pruned(given, metadataSchema, "metadata", unknown), metadataSchema);
  if (!isObject(known)) throw badRequest("metadata has to be an object");
  return known;
}

/** Maps and lists of built-in kinds that are empty are not there. */
function withoutEmptyCollections(type: ResourceType, object: KubeObject): KubeObject {
  const isCollection = (key: string): boolean =>
    field(type.schema, "properties", key, "additionalProperties") !== undefined ||
    textAt(type.schema, "properties", key, "type") === "array";
  const gone = Object.entries(object).filter(([key, value]) => isCollection(key) && isEmpty(value));
  return gone.reduce<KubeObject>((rest, [key]) => withTop(rest, key, undefined), object);
}

/** Unknown fields by the caller's wish: an error in the server's words, or warnings. */
export function refuseUnknown(
  type: ResourceType,
  unknown: readonly string[],
  how: FieldValidation,
  warn: (text: string) => void,
): void {
  const told = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (how === "Strict" && told.length > 0)
    throw mismatch(type, type.kind, type.version, `strict decoding error: ${told.join(", ")}`);
  if (how === "Warn") told.forEach(warn);
}

export const isFieldValidation = (text: string): text is FieldValidation =>
  ["Strict", "Warn", "Ignore"].includes(text);
