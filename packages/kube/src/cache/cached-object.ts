import { parseJson, writeJson, unlessTooDeep } from "@drover/json";
import { isSecret, type KubeObject, withoutManagedFields } from "../objects/kube-object.ts";
import { objectFrom } from "../client/reply.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";

/** Most characters of a cached object. A larger one is rare, and is read live. */
const maxCachedLength = 16_384;

/**
 * An object as text that may replace a read of it: complete except for its managedFields, which a write without them
 * leaves unchanged. Undefined for an object that is too long, and for every Secret.
 */
export function cachedObjectText(object: KubeObject): string | undefined {
  if (isSecret(object)) return undefined;
  const text = objectText(object);
  return text === undefined || text.length > maxCachedLength ? undefined : text;
}

/** An object without its managedFields, as text; undefined if it is nested too deeply to be written. */
export const objectText = (object: KubeObject): string | undefined =>
  unlessTooDeep<string | undefined>(
    () => writeJson(withoutManagedFields(object)),
    () => undefined,
  );

/** The object of a cached text; undefined if the text is not an object of this kind: another client wrote it. */
export function parseCachedObject(ref: ResourceRef, copy: string): KubeObject | undefined {
  try {
    return objectFrom("a copy", ref, parseJson(copy));
  } catch {
    return undefined;
  }
}
