import { createHash } from "node:crypto";
import type { ObjectMetadata } from "@drover/controller";
import { writeJson } from "@drover/json";

/** A short text that is the same for two versions of an object which a controller need not tell apart. */
export type Fingerprint = string;

/**
 * The fingerprint of an object by its metadata: uid, generation, labels, annotations, finalizers, owners,
 * deletionTimestamp. A change of status alone leaves it as it is.
 *
 * A kind without generation (Secret, ConfigMap) does not say whether a change matters: there every version is another
 * fingerprint.
 */
export function fingerprint(metadata: ObjectMetadata): Fingerprint {
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

/** A short text that is the same for the same values, and hardly ever for others. */
export const digestOf = (values: readonly unknown[]): Fingerprint =>
  createHash("sha256").update(writeJson(values)).digest("base64url").slice(0, 16);

const sorted = (map: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] =>
  Object.entries(map)
    .filter(([name]) => name !== lastApplied)
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** kubectl's copy of what was applied: large, and says nothing that the object does not. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
