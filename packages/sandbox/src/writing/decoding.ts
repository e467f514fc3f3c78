// The decoding of the body of a request as an object of the kind in its path.
import { writeJson } from "@drover/json";
import { invalid } from "../admission/field-errors.ts";
import { isObject, isString, omit, textAt } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { nameOf } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";
import { filledFields, metadataIn, metadataSchema } from "../admission/object-metadata.ts";
import { apiVersionOf, fitted } from "../kinds/resource-type.ts";
import type { ResourceType } from "../kinds/resource-type.ts";
import { validated } from "../schema/schema-validation.ts";
import { ApiError, badRequest, internalError, invalidObject } from "../http/status.ts";

/** The treatment of unknown fields: 400, a Warning header, or nothing. They are never stored. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";
export interface Telling {
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
}

const mismatch = (type: ResourceType, kind: string, version: string, why: string): Error =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: ${why}`);

/** The beginning of a body, for messages (apiserver, endpoints/handlers, summarizeData). */
export function summary(body: string): string {
  const most = 30;
  const start = body.startsWith("{")
    ? body.slice(0, most)
    : Buffer.from(body).subarray(0, most).toString("hex");
  return body === "" ? "<empty>" : `${start}${body.length > most ? " ..." : ""}`;
}

const unrecognized = ({ kind }: ResourceType, body: Json, why: string): Error =>
  badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(writeJson(body))})`,
  );

export const notRegistered = (kind: string, version: string): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`;

function typeMetaOf(type: ResourceType, body: JsonObject): { apiVersion: string; kind: string } {
  const expected = apiVersionOf(type);
  for (const key of ["apiVersion", "kind"])
    if (!isString(body[key] ?? ""))
      throw unrecognized(type, body, `couldn't get version/kind; json parse error: ${key} is not a text`);
  const apiVersion = textAt(body, "apiVersion") || (type.custom ? "" : expected);
  const kind = textAt(body, "kind") || (type.custom ? "" : type.kind);
  if (kind === "") throw unrecognized(type, body, `Object 'Kind' is missing in '${writeJson(body)}'`);
  if (!type.custom && (apiVersion !== expected || kind !== type.kind))
    throw mismatch(type, kind, apiVersion.split("/").at(-1) ?? "", notRegistered(kind, apiVersion));
  if (apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  if (kind === type.kind) return { apiVersion, kind };
  throw invalidObject({ group: type.group, kind }, nameOf(body), [
    invalid("kind", kind, `must be ${type.kind}`),
  ]);
}

/**
 * Checks the type, drops unknown fields, and sets defaults.
 * Adds the path of every dropped field to `unknown`.
 * Throws 400 for another kind or version, and for wrong types where Go would fail to decode them: in metadata, and
 * anywhere in a built-in kind. (Wrong types in a custom resource are 422 and come from its schema.) Nulls that mean
 * nothing are dropped, unless `keepsNulls`: the schema of a custom resource refuses them.
 */
export function decoded(type: ResourceType, given: Json, unknown: string[], keepsNulls = false): KubeObject {
  const body = given === null && !type.custom ? {} : given;
  if (body === null) throw unrecognized(type, body, "Object 'Kind' is missing in 'null'");
  if (!isObject(body))
    throw unrecognized(type, body, "couldn't get version/kind; json parse error: it is not a JSON object");
  const { apiVersion, kind } = typeMetaOf(type, body);
  const metadata = metadataIn(body["metadata"] ?? {}, "metadata", unknown);
  if (!metadata) throw mismatch(type, kind, type.version, "json: metadata: it is not an object");
  const content = fitted(type, { ...body, apiVersion, kind, metadata: {} }, unknown, keepsNulls);
  if (type.custom) unknown.sort();
  const wrong = [
    ...validated(metadata, metadataSchema, "metadata"),
    ...(type.custom ? [] : validated(omit(content, "metadata"), type.schema, "")),
  ].find(({ reason }) => reason === "FieldValueTypeInvalid");
  if (wrong) throw mismatch(type, kind, type.version, `json: ${wrong.field}: ${wrong.body}`);
  return { ...content, apiVersion, kind, metadata: filledFields(metadata) };
}

/** If the result of a patch cannot be decoded, throws 422 about the patch instead of 400. */
export function refusing(
  type: ResourceType,
  patched: JsonObject,
  { fieldValidation, warn }: Telling,
  read: () => KubeObject,
): KubeObject {
  const { apiVersion, kind } = patched;
  const version = apiVersion ?? "";
  const name = nameOf(patched);
  if (type.custom && version === "" && kind)
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  if (!type.custom && version === "") {
    // An object without a version is decoded as a kind without fields.
    const fields = Object.keys(omit(patched, "apiVersion", "kind")).sort();
    const faults = fields.map((key) => `unknown field ${JSON.stringify(key)}`);
    refuseUnknown(type, faults, fieldValidation, warn);
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (type.custom && isString(version) && kind && version !== apiVersionOf(type))
    throw invalidObject(type, name, [invalid("apiVersion", version, `must be ${apiVersionOf(type)}`)]);
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    const fault = invalid("patch", writeJson(patched), error.message);
    throw invalidObject({ group: "", kind: "" }, "", [fault]);
  }
}

/** Reports faults of fields as the request asks: as an error with the words of the server, or as warnings. */
export function refuseUnknown(
  type: ResourceType,
  faults: readonly string[],
  how: FieldValidation,
  warn: (text: string) => void,
): void {
  if (how === "Strict" && faults.length > 0)
    throw mismatch(type, type.kind, type.version, `strict decoding error: ${faults.join(", ")}`);
  if (how === "Warn") faults.forEach(warn);
}

export const isFieldValidation = (text: string): text is FieldValidation =>
  ["Strict", "Warn", "Ignore"].includes(text);
