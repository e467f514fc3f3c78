import { createHash } from "node:crypto";
import type { ObjectMetadata } from "@drover/controller";
import type { View } from "@drover/kube";
import { writeJson } from "@drover/json";

/**
 * The fingerprint of an object's metadata: uid, generation, labels, annotations, finalizers, owners, deletionTimestamp.
 * A change of the status alone does not change it.
 *
 * A kind without generation (Secret, ConfigMap) does not show whether a change matters: each version has another
 * fingerprint.
 */
export function fingerprint(metadata: ObjectMetadata): View {
  const { uid, resourceVersion, generation, labels, annotations } = metadata;
  const { finalizers = [], ownerReferences = [], deletionTimestamp = "" } = metadata;
  const parts = [
    uid,
    generation ?? `version ${resourceVersion}`,
    sorted(labels),
    sorted(annotations),
    finalizers,
    ownerReferences.map((owner) => [owner.uid, owner.controller ?? false]),
    deletionTimestamp,
  ];
  return digestOf(parts);
}

/** A short text that is equal for equal values, and almost never for different ones. */
export const digestOf = (values: readonly unknown[]): View =>
  createHash("sha256").update(writeJson(values)).digest("base64url").slice(0, 16);

const sorted = (map: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] =>
  Object.entries(map)
    .filter(([name]) => name !== lastAppliedAnnotation)
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** kubectl's copy of the applied manifest: large, and without information that the object lacks. */
export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
