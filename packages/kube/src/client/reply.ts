import type { ObjectList } from "@drover/controller";
import { parseJson } from "@drover/json";
import { z } from "zod";
import { ApiError, type ApiErrorKind, MalformedReplyError } from "../errors.ts";
import {
  type KubeObject,
  kubeObjectSchema,
  listSchema,
  type ApiStatus,
  apiStatusSchema,
} from "../objects/kube-object.ts";
import { apiVersionOf, type ResourceRef } from "../objects/resource-ref.ts";
import type { Reply, BufferedReply } from "../transport/transport.ts";
import { isWellFormed } from "../objects/well-formed.ts";

export type { ObjectList } from "@drover/controller";

/**
 * The JSON of a successful reply.
 * @throws ApiError for a refusal, MalformedReplyError for a reply that no API server sends.
 */
export function acceptedJson(reply: BufferedReply): unknown {
  if (reply.status < 200 || reply.status > 299) throw refusalError(reply);
  return parsedBody(reply);
}

/**
 * An object of a kind, from JSON. Its `apiVersion` and `kind` are those of the kind, also if only metadata came.
 *
 * @param partial true if only metadata was requested: only then may the reply be a PartialObjectMetadata.
 * @throws MalformedReplyError for an object of another kind, or without the fields that every object has.
 */
export function objectFrom(request: string, ref: ResourceRef, value: unknown, partial = false): KubeObject {
  const object = isWellFormed(value) ? value : parsedAs(request, kubeObjectSchema, value);
  const typed = { apiVersion: apiVersionOf(ref), kind: ref.kind };
  if (partial && isKind(object, partialObject)) return { ...object, ...typed };
  if (!isKind(object, typed)) throw wrongKindError(request, object, typed);
  return object;
}

const reviewSchema = z.looseObject({ status: z.unknown() });

/** The status of a review. */
export const reviewFrom = (request: string, value: unknown): unknown =>
  parsedAs(request, reviewSchema, value).status;

/**
 * A page of a kind's list, from JSON. Items of Kubernetes' own kinds have neither apiVersion nor kind: the list's kind
 * determines theirs (`<Kind>List`, or `PartialObjectMetadataList` if only metadata was requested).
 *
 * @throws MalformedReplyError if the list or an item is of another kind.
 */
export function listFrom(request: string, ref: ResourceRef, value: unknown, partial = false): ObjectList {
  const list = parsedAs(request, listSchema, value);
  const { apiVersion, kind, metadata, items } = list;
  const isPartial = partial && isKind(list, partialList);
  const itemType = isPartial ? partialObject : { apiVersion, kind: kind.slice(0, -"List".length) };
  if (!isPartial && apiVersion !== apiVersionOf(ref)) {
    throw wrongKindError(request, list, { apiVersion: apiVersionOf(ref), kind: `${ref.kind}List` });
  }
  return {
    resourceVersion: metadata.resourceVersion,
    continue: metadata.continue == null || metadata.continue === "" ? undefined : metadata.continue,
    remaining: metadata.remainingItemCount ?? undefined,
    items: (items ?? []).map((item) => objectFrom(request, ref, { ...itemType, ...item }, isPartial)),
  };
}

/** The error for a Status, of a reply or of a watch's ERROR frame. */
export function apiErrorFrom(reply: Reply, code: number, status: ApiStatus | undefined, text = ""): ApiError {
  const requestedSeconds = status?.details?.retryAfterSeconds;
  const requestedSpan =
    requestedSeconds != null && requestedSeconds > 0 ? requestedSeconds * 1_000 : undefined;
  return new ApiError({
    kind: errorKindOf(code, status),
    status: code,
    reason: status?.reason ?? "",
    serverMessage: withoutValue(status?.message ?? text),
    request: reply.request,
    retryAfter: reply.retryAfter ?? requestedSpan,
    details: status?.details,
  });
}

/** An apply of a value with the wrong type is refused with the value, which may be a Secret's. */
const withoutValue = (message: string): string =>
  message.replace(/(typed patch object [^]*?: expected \w+, got )[^]*$/, "$1a value of another type");

/** The error for a reply without a 2xx status. */
export function refusalError(reply: BufferedReply): ApiError | MalformedReplyError {
  if (reply.status < 400) {
    return new MalformedReplyError(reply.request, `it answers ${reply.status}, a redirect.`);
  }
  const text = new TextDecoder().decode(reply.body);
  const status = apiStatusSchema.safeParse(jsonOrNothing(text));
  return apiErrorFrom(reply, reply.status, status.data, excerpt(text));
}

function errorKindOf(code: number, status: ApiStatus | undefined): ApiErrorKind {
  if (status?.reason === "Expired" || code === 410) return "Expired";
  switch (code) {
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      // If an object is missing, the Status has its name. If the kind is not served, it has none.
      return status?.details?.name == null || status.details.name === "" ? "NotServed" : "NotFound";
    case 409:
      return status?.reason === "AlreadyExists" ? "AlreadyExists" : "Conflict";
    case 429:
      return "TooManyRequests";
    case 408:
    case 504:
      return "Timeout";
    case 501:
      return "NotServed";
    case 422:
      // A patch for an object of another uid would change the uid.
      return changesUid(status?.details) ? "Conflict" : "Invalid";
    default:
      return code >= 500 ? "ServerError" : "Invalid";
  }
}

const uidCauses = z.looseObject({ causes: z.array(z.looseObject({ field: z.literal("metadata.uid") })) });

const changesUid = (details: unknown): boolean => uidCauses.safeParse(details).success;

function parsedBody(reply: BufferedReply): unknown {
  const text = decoded(reply, reply.body, "its body");
  const value = jsonOrNothing(text);
  if (value !== undefined) return value;
  const type = reply.contentType === "" ? "no content type" : reply.contentType;
  // Truncated JSON may be part of a Secret, and is not shown. Other text, such as a proxy's page, is: it identifies the
  // program that answered.
  const shown = /json|^[\s[{]/.test(type + text.slice(0, 1))
    ? `of ${reply.body.byteLength} bytes`
    : JSON.stringify(excerpt(text));
  throw new MalformedReplyError(reply.request, `${reply.status} with ${type}, not JSON: ${shown}.`);
}

/** @param what the part of the reply, for the message. @throws MalformedReplyError unless the bytes are UTF-8. */
export function decoded({ request }: Reply, bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new MalformedReplyError(request, `${what} is not UTF-8.`, cause);
  }
}

function jsonOrNothing(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** @param label precedes the problem in the message. @throws MalformedReplyError if the value does not fit. */
export function parsedAs<T extends z.ZodType>(
  request: string,
  schema: T,
  value: unknown,
  label = "",
): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new MalformedReplyError(request, `${label}${z.prettifyError(result.error)}`, result.error);
}

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

const partialObject: Typed = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
const partialList: Typed = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadataList" };

const isKind = (value: Typed, { apiVersion, kind }: Typed): boolean =>
  value.apiVersion === apiVersion && value.kind === kind;

const wrongKindError = (request: string, sent: Typed, wanted: Typed): MalformedReplyError =>
  new MalformedReplyError(
    request,
    `it sent ${sent.apiVersion} ${sent.kind} instead of ${wanted.apiVersion} ${wanted.kind}.`,
  );

const excerpt = (text: string): string => text.trim().slice(0, 200);
