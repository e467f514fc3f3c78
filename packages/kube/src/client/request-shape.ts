import type { ObjectKey, ObjectMetadata, ObjectName } from "@drover/controller";
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  ListOptions,
  NewObject,
  Patch,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { keyOf } from "../objects/kube-object.ts";
import {
  apiVersionOf,
  builtin,
  collectionPath,
  objectPath,
  type ResourceRef,
} from "../objects/resource-ref.ts";
import type { ApiRequest } from "../transport/transport.ts";

/** A request without its credentials and its deadline. */
export interface RequestShape extends Pick<ApiRequest, "method" | "path" | "accept" | "body"> {
  /** Method and path, for errors. */
  readonly name: string;
  readonly reply: "object" | "list";
}

/** Largest page that is requested, in objects. */
const mostPerPage = 500;

const partialAccept = (kind: string): string =>
  `application/json;as=${kind};g=meta.k8s.io;v=v1, application/json;q=0.5`;

export const getRequest = (ref: ResourceRef, key: ObjectKey): RequestShape =>
  shape("GET", objectPath(ref, key));

export function listRequest(ref: ResourceRef, options: ListOptions): RequestShape {
  const { limit = mostPerPage, labelSelector, fieldSelector } = options;
  const path = collectionPath(ref, options.namespace);
  const parameters = {
    limit: Math.min(limit, mostPerPage),
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    labelSelector,
    fieldSelector,
  };
  return {
    ...shape("GET", path, parameters),
    reply: "list",
    ...(options.metadataOnly === true ? { accept: partialAccept("PartialObjectMetadataList") } : {}),
  };
}

export function watchRequest(ref: ResourceRef, options: WatchOptions): RequestShape {
  const { resourceVersion, timeoutSeconds, labelSelector, fieldSelector } = options;
  const parameters = {
    watch: true,
    allowWatchBookmarks: true,
    ...(options.sendInitialEvents === true
      ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }
      : {}),
    resourceVersion,
    timeoutSeconds,
    labelSelector,
    fieldSelector,
  };
  return {
    ...shape("GET", collectionPath(ref, options.namespace), parameters),
    name: `WATCH ${collectionPath(ref, options.namespace)}`,
    ...(options.metadataOnly === true ? { accept: partialAccept("PartialObjectMetadata") } : {}),
  };
}

/** A document of discovery. */
export const documentRequest = (path: string): RequestShape => shape("GET", path);

/** The manager of the fields that a write sets. */
interface Manager {
  readonly fieldManager: string;
}

export const createRequest = (
  ref: ResourceRef,
  object: NewObject,
  { fieldManager, dryRun }: CreateOptions & Manager,
): RequestShape => ({
  ...shape("POST", collectionPath(ref, object.metadata.namespace), written(fieldManager, dryRun)),
  body: objectBody(ref, object),
});

/** Creates a review. It has no name, since the server does not store it. */
export const reviewRequest = (ref: ResourceRef, spec: object): RequestShape => ({
  ...shape("POST", collectionPath(ref)),
  body: {
    type: "application/json",
    content: { apiVersion: apiVersionOf(ref), kind: ref.kind, spec },
  },
});

export function bindRequest(
  { namespace, name, uid }: ObjectName & Pick<ObjectMetadata, "uid">,
  node: string,
): RequestShape {
  const key = keyOf({ metadata: namespace === undefined ? { name } : { namespace, name } });
  const target = { apiVersion: "v1", kind: "Node", name: node };
  return {
    ...shape("POST", objectPath(builtin.pod, key, "binding")),
    body: {
      type: "application/json",
      content: { apiVersion: "v1", kind: "Binding", metadata: { name, uid }, target },
    },
  };
}

export const replaceRequest = (
  ref: ResourceRef,
  key: ObjectKey,
  object: NewObject,
  { subresource, fieldManager, dryRun }: WriteOptions & Manager,
): RequestShape => ({
  ...shape("PUT", objectPath(ref, key, subresource), written(fieldManager, dryRun)),
  body: objectBody(ref, object),
});

export const patchRequest = (
  ref: ResourceRef,
  key: ObjectKey,
  { type, body }: Patch,
  { subresource, fieldManager, dryRun }: WriteOptions & Manager,
): RequestShape => ({
  ...shape("PATCH", objectPath(ref, key, subresource), written(fieldManager, dryRun)),
  body: { type: patchType[type], content: body },
});

/** @param kind of the object: that of `ref`, or Scale. */
export const applyRequest = (
  ref: ResourceRef,
  key: ObjectKey,
  { kind, object }: { readonly kind: ResourceRef; readonly object: NewObject },
  { subresource, fieldManager, dryRun, force }: ApplyOptions & Manager,
): RequestShape => ({
  ...shape("PATCH", objectPath(ref, key, subresource), { ...written(fieldManager, dryRun), force }),
  body: { ...objectBody(kind, object), type: "application/apply-patch+yaml" },
});

/**
 * The parameters of a write. The API server validates in any case. `fieldValidation` is about warnings, which nothing here
 * reads: with its default the server parses each apply twice, which costs it a tenth of the request.
 */
const written = (fieldManager: string, dryRun: boolean | undefined) => ({
  fieldManager,
  fieldValidation: "Ignore",
  dryRun: dryRun === true ? "All" : undefined,
});

const patchType = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const satisfies Record<Patch["type"], string>;

export function deleteRequest(ref: ResourceRef, key: ObjectKey, options: DeleteOptions): RequestShape {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  const preconditions =
    uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } };
  return {
    ...shape("DELETE", objectPath(ref, key)),
    body: {
      type: "application/json",
      content: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        ...preconditions,
        propagationPolicy,
        gracePeriodSeconds,
        ...(dryRun === true && { dryRun: ["All"] }),
      },
    },
  };
}

const objectBody = (ref: ResourceRef, object: NewObject) => ({
  type: "application/json",
  content: { ...object, apiVersion: apiVersionOf(ref), kind: ref.kind },
});

function shape(
  method: RequestShape["method"],
  path: string,
  parameters: Readonly<Record<string, string | number | boolean | undefined>> = {},
): RequestShape {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const query = search.toString();
  return {
    method,
    path: query === "" ? path : `${path}?${query}`,
    name: `${method} ${path}`,
    reply: "object",
  };
}
