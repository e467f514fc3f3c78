// A request's body, as an object of the kind that its path names.
import { isArray, isObject, textAt } from "./json.ts";
import type { Json } from "./json.ts";
import type { KubeObject } from "./kube-object.ts";
import {
  anything,
  apiVersionOf,
  boolean,
  fields,
  fitted,
  integer,
  listOf,
  mapOf,
  string,
} from "./resource-type.ts";
import type { ResourceType } from "./resource-type.ts";
import { defaulted, pruned } from "./schema-fitting.ts";
import { validated } from "./schema-validation.ts";
import { badRequest } from "./status.ts";

/** What happens to fields that a kind does not know: 400, a Warning header, or nothing. They are never stored. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";

const time = { ...string, nullable: true };
const metadataSchema = fields({
  name: string,
  generateName: string,
  namespace: string,
  selfLink: string,
  uid: string,
  resourceVersion: string,
  generation: integer,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: { ...integer, nullable: true },
  labels: mapOf(string),
  annotations: mapOf(string),
  finalizers: listOf(string),
  ownerReferences: listOf(
    fields({
      apiVersion: string,
      kind: string,
      name: string,
      uid: string,
      controller: boolean,
      blockOwnerDeletion: boolean,
    }),
  ),
  managedFields: listOf(anything),
});

/** Metadata fields that mean nothing when they are empty: Go's `omitempty`. */
const empty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  (isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

const mismatch = (type: ResourceType, kind: string, version: string, why: string): Error =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: ${why}`);

function typeMetaOf(type: ResourceType, body: Json): { apiVersion: string; kind: string } {
  const expected = apiVersionOf(type);
  const apiVersion = textAt(body, "apiVersion") ?? (type.custom ? "" : expected);
  const kind = textAt(body, "kind") ?? (type.custom ? "" : type.kind);
  const missing = kind === "" ? "Kind" : apiVersion === "" ? "apiVersion" : undefined;
  if (missing)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): Object '${missing}' is missing in '${JSON.stringify(body)}'`,
    );
  if (apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  if (kind !== type.kind) throw mismatch(type, kind, type.version, `it is not of kind ${type.kind}`);
  return { apiVersion, kind };
}

/**
 * Checks the type, drops what the kind does not know, and sets defaults.
 * `unknown` is given the path of every field that was dropped.
 * Throws 400 for another kind or version, and for wrong types where Go would fail to decode them: in metadata, and
 * anywhere in a built-in kind. (Wrong types in a custom resource are 422 and come from its schema.)
 */
export function decoded(type: ResourceType, body: Json, unknown: string[]): KubeObject {
  if (!isObject(body))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): it is not a JSON object`,
    );
  const { apiVersion, kind } = typeMetaOf(type, body);
  const given = body["metadata"] ?? {};
  const wrong = [
    ...validated(given, metadataSchema, "metadata"),
    ...(type.custom
      ? []
      : validated(
          fitted(type, { ...body, apiVersion, kind, metadata: {} }),
          { ...type.schema, required: [] },
          "",
        )),
  ].find(({ reason }) => reason === "FieldValueTypeInvalid");
  if (wrong) throw mismatch(type, kind, type.version, `json: ${wrong.field}: ${wrong.body}`);
  const metadata = Object.entries(defaultedMetadata(given, unknown)).filter(([, value]) => !empty(value));
  return fitted(type, { ...body, apiVersion, kind, metadata: Object.fromEntries(metadata) }, unknown);
}

function defaultedMetadata(given: Json, unknown: string[]): Readonly<Record<string, Json>> {
  const known = defaulted(pruned(given, metadataSchema, "metadata", unknown), metadataSchema);
  return isObject(known) ? known : {};
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
