import {
  type KubeObject,
  type ObjectKey,
  objectKey,
  objectMetadataFields,
  type ObjectName,
} from "@drover/controller";
import { z } from "zod";

const text = z.string().min(1);

// Go's encoder writes null for some absent fields (`creationTimestamp: null`).
const nullIsAbsent = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null))
    : value;

const ownerReferenceSchema = z.looseObject({
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: z.boolean().exactOptional(),
  blockOwnerDeletion: z.boolean().exactOptional(),
});

/** The metadata of an object that exists: it has a name, a uid and a version. */
export const metadataSchema = z.preprocess(
  nullIsAbsent,
  z.looseObject({
    ...objectMetadataFields,
    ownerReferences: z.array(ownerReferenceSchema).exactOptional(),
  }),
);

export const kubeObjectSchema = z.looseObject({ apiVersion: text, kind: text, metadata: metadataSchema });

export type { KubeObject };

export const listSchema = z.looseObject({
  apiVersion: text,
  kind: z.string().endsWith("List"),
  metadata: z.looseObject({
    resourceVersion: text,
    continue: z.string().nullish(),
    remainingItemCount: z.number().nullish(),
  }),
  items: z.array(z.looseObject({})).nullable(),
});

/** The used fields of a `meta/v1` Status. Each may be missing, and no caller relies on one. */
export const apiStatusSchema = z.looseObject({
  kind: z.literal("Status"),
  code: z.number().int().nullish(),
  reason: z.string().nullish(),
  message: z.string().nullish(),
  details: z
    .looseObject({
      name: z.string().nullish(),
      kind: z.string().nullish(),
      retryAfterSeconds: z.number().nullish(),
    })
    .nullish(),
});
export type ApiStatus = z.output<typeof apiStatusSchema>;

/** The key of an object: `namespace/name`, or `name` if it is cluster-scoped. @throws InvalidKeyError */
export function keyOf({ metadata }: { readonly metadata: ObjectName }): ObjectKey {
  const { namespace, name } = metadata;
  return objectKey(namespace === undefined ? { name } : { namespace, name });
}

/** True for a Secret, by the `apiVersion` and `kind` of the reply: Secrets are never cached and never passed on. */
export const isSecret = ({ apiVersion, kind }: { readonly [field: string]: unknown }): boolean =>
  apiVersion === "v1" && kind === "Secret";

/**
 * The object without its managedFields. They are more than half of its metadata, and only the API server uses them.
 * Code that holds many objects at once removes them.
 */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata["managedFields"] === undefined) return object;
  const metadata = { ...object.metadata };
  delete metadata["managedFields"];
  return { ...object, metadata };
}

/**
 * The version of an object, a list or a bookmark. Versions can be compared within one kind only. Those of Kubernetes
 * are decimal numbers of any length. An aggregated API may send any text: then only equality counts.
 */
export type ResourceVersion = string;

/** The order of a version relative to another one of the same kind. */
export type VersionOrder = "older" | "same" | "newer" | "incomparable";

const decimal = /^(0|[1-9]\d*)$/;

/** Compares `version` with `other`, by length, then by text: a number would lose digits. */
export function versionOrder(version: ResourceVersion, other: ResourceVersion): VersionOrder {
  if (version === other) return "same";
  if (!decimal.test(version) || !decimal.test(other)) return "incomparable";
  if (version.length !== other.length) return version.length < other.length ? "older" : "newer";
  return version < other ? "older" : "newer";
}
