import type { KubeObject } from "./kube-object.ts";

/**
 * True if `kubeObjectSchema` would return a value from JSON unchanged. If false, the schema decides. It copies each
 * object, and a list may have a hundred thousand.
 */
export function isWellFormed(value: unknown): value is KubeObject {
  if (!isRecord(value)) return false;
  const { metadata } = value;
  return isText(value["apiVersion"]) && isText(value["kind"]) && isRecord(metadata) && isMetadata(metadata);
}

type Fields = Readonly<Record<string, unknown>>;

function isMetadata(metadata: Fields): boolean {
  // The schema treats null as absent, and returns an object without the field.
  for (const name in metadata) if (metadata[name] === null) return false;
  const { namespace, generation, creationTimestamp, deletionTimestamp } = metadata;
  const { finalizers, labels, annotations, ownerReferences } = metadata;
  return (
    isText(metadata["name"]) &&
    isText(metadata["uid"]) &&
    isText(metadata["resourceVersion"]) &&
    (namespace === undefined || isText(namespace)) &&
    (generation === undefined || Number.isFinite(generation)) &&
    isStringOrAbsent(creationTimestamp) &&
    isStringOrAbsent(deletionTimestamp) &&
    (finalizers === undefined || (Array.isArray(finalizers) && finalizers.every(isString))) &&
    (labels === undefined || isTexts(labels)) &&
    (annotations === undefined || isTexts(annotations)) &&
    (ownerReferences === undefined || (Array.isArray(ownerReferences) && ownerReferences.every(isOwner)))
  );
}

function isOwner(owner: unknown): boolean {
  if (!isRecord(owner)) return false;
  const { controller, blockOwnerDeletion } = owner;
  return (
    isText(owner["apiVersion"]) &&
    isText(owner["kind"]) &&
    isText(owner["name"]) &&
    isText(owner["uid"]) &&
    (controller === undefined || typeof controller === "boolean") &&
    (blockOwnerDeletion === undefined || typeof blockOwnerDeletion === "boolean")
  );
}

function isTexts(value: unknown): boolean {
  if (!isRecord(value)) return false;
  for (const name in value) if (!isString(value[name])) return false;
  return true;
}

/** True for an object that is not a list. The schema drops a field with the name `__proto__`, which JSON may have. */
export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !Object.hasOwn(value, "__proto__");

const isString = (value: unknown): boolean => typeof value === "string";
const isStringOrAbsent = (value: unknown): boolean => value === undefined || isString(value);
const isText = (value: unknown): boolean => isString(value) && value !== "";
