// The answers that are not successes, as Status objects of the API server. Reasons, messages and details follow
// api/errors of apimachinery: clients decide by reason and code, people read the message.
import type { FieldError } from "../admission/field-errors.ts";
import { quoted } from "./go-text.ts";
import { present } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";

/** The resource that a message names, by group and plural, or by group and kind. */
export interface Named {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
}

/** The failure Status that answers a request. Thrown by the code that serves it; one place makes it a response. */
export class ApiError extends Error {
  readonly code: number;
  readonly status: JsonObject;
  readonly retryAfterSeconds: number | undefined;
  constructor(
    code: number,
    reason: string,
    message: string,
    details?: JsonObject,
    metadata: JsonObject = {},
    /** The cause, for logs, if the message of a real server lacks it. */
    why = message,
  ) {
    super(why);
    this.code = code;
    const retry = details?.["retryAfterSeconds"];
    this.retryAfterSeconds = typeof retry === "number" ? retry : undefined;
    this.status = present({
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message: message.toWellFormed(),
      reason: reason === "" ? undefined : reason,
      details,
      code,
    });
  }
}

const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);
const resourceOf = (type: Named): string => qualified(type.resource, type.group);
const about = (
  type: Named,
  name: string,
  kind = type.resource,
  more: Record<string, Json> = {},
): JsonObject =>
  present({
    name: name.toWellFormed() || undefined,
    group: type.group || undefined,
    kind: kind || undefined,
    ...more,
  });

export const success = (type: Named, name: string, uid: string): JsonObject => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: about(type, name, type.resource, { uid }),
});

export const notFound = (type: Named, name: string): ApiError =>
  new ApiError(404, "NotFound", `${resourceOf(type)} ${quoted(name)} not found`, about(type, name));
/** The answer for a path in a served group version that has no resource. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, "NotFound", "the server could not find the requested resource", {});
export const methodNotAllowed = (): ApiError =>
  new ApiError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
/** The same, with the words for custom resources. */
export const notSupportedVerb = (type: Named, verb: string): ApiError =>
  new ApiError(
    405,
    "MethodNotAllowed",
    `${verb} is not supported on resources of kind ${JSON.stringify(resourceOf(type))}`,
    about(type, ""),
  );
export const alreadyExists = (type: Named, name: string, beingDeleted: boolean): ApiError =>
  new ApiError(
    409,
    "AlreadyExists",
    `${beingDeleted ? "object is being deleted: " : ""}${resourceOf(type)} ${JSON.stringify(name)} already exists`,
    about(type, name),
  );
/** The same for a generated name: another try may find a name that is free. */
export const generatedNameTaken = (type: Named, name: string, beingDeleted: boolean): ApiError =>
  new ApiError(
    409,
    "AlreadyExists",
    `${alreadyExists(type, name, beingDeleted).message}, the server was not able to generate a unique name for the object`,
    about(type, name, type.resource, { retryAfterSeconds: 1 }),
  );
export const modified =
  "the object has been modified; please apply your changes to the latest version and try again";
export const conflict = (type: Named, name: string, why = modified, kind = type.resource): ApiError =>
  new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(kind, type.group)} ${JSON.stringify(name)}: ${why}`,
    about(type, name, kind),
  );
/** The answer for an apply to fields that other managers own. */
export const applyConflict = (causes: readonly JsonObject[], message: string): ApiError =>
  new ApiError(409, "Conflict", message, { causes });
export const forbiddenBy = (type: Named, name: string, why: string, cause?: JsonObject): ApiError =>
  new ApiError(
    403,
    "Forbidden",
    `${resourceOf(type)} ${JSON.stringify(name)} is forbidden: ${why}`,
    about(type, name, type.resource, cause && { causes: [cause] }),
  );

/** 422 with one cause per field error. Equal errors are in the message once. */
export function invalidObject(
  type: Omit<Named, "resource">,
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const messages = [...new Set(errors.map((error) => `${error.field}: ${error.body}`))];
  const list = messages.length === 1 ? String(messages[0]) : `[${messages.join(", ")}]`;
  return new ApiError(
    422,
    "Invalid",
    `${qualified(type.kind, type.group)} ${JSON.stringify(name)} is invalid: ${list}`,
    about({ ...type, resource: "" }, name, type.kind, {
      causes: errors.map(({ reason, field, body }) => ({ reason, message: body, field })),
    }),
  );
}
/** 422 about the query of a request, e.g. its ListOptions. */
export const invalidOptions = (kind: string, errors: readonly FieldError[]): ApiError =>
  invalidObject({ group: "meta.k8s.io", kind }, "", errors);

export const badRequest = (message: string): ApiError => new ApiError(400, "BadRequest", message);
/** 422 for a patch that does not fit. The message of a real server has no cause; the error here has it, for logs. */
export const unprocessable = (why: string): ApiError =>
  new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {}, {}, why);
export const expired = (message: string, continueWith?: string): ApiError =>
  new ApiError(410, "Expired", message, undefined, present({ continue: continueWith }));
export const tooLargeVersion = (wanted: number, current: number): ApiError =>
  new ApiError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
export const tooLargeBody = (limit: number): ApiError =>
  new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
/** The answer for a type of patch that the route of the kind does not take. */
export const unsupportedPatch = (): ApiError =>
  new ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
/** The answer for an Accept header that the route of the kind cannot satisfy. */
export const notAvailable = (): ApiError =>
  new ApiError(
    406,
    "NotAcceptable",
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    {},
  );
export const notAcceptable = (message: string): ApiError => new ApiError(406, "NotAcceptable", message);
/** The answer for a feature that the sandbox lacks; `where` is the reason, and the place to test it. */
export const notImplemented = (what: string, where: string): ApiError =>
  new ApiError(501, "NotImplemented", `the sandbox does not have ${what}, which ${where}`);
/** 500 without a reason: the answer of a real server to some invalid requests. */
export const serverError = (message: string): ApiError => new ApiError(500, "", message);
export const internalError = (message: string): ApiError =>
  new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
