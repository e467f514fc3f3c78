import { parseJson, writeJson } from "@drover/json";
import { isSecret, type KubeObject } from "./kube-object.ts";
import { withoutManagedFields } from "./managed-fields.ts";
import { objectFrom } from "./reply.ts";
import type { ResourceRef } from "./resource-ref.ts";
import { unlessTooDeep } from "./unless-too-deep.ts";

/** Characters of a copy at most: an object of this size is rare, and read live instead. */
const longestCopy = 16_384;

/**
 * An object as text that may stand in for a read of it: whole but for its managedFields, which a write without them leaves
 * as they are. Undefined where it is too long to be kept, and for every Secret.
 */
export function copyOf(object: KubeObject): string | undefined {
  if (isSecret(object)) return undefined;
  const text = objectText(object);
  return text === undefined || text.length > longestCopy ? undefined : text;
}

/** An object without its managedFields, as text; undefined where it is nested too deep to be written. */
export const objectText = (object: KubeObject): string | undefined =>
  unlessTooDeep<string | undefined>(
    () => writeJson(withoutManagedFields(object)),
    () => undefined,
  );

/** The object that a copy is of; undefined where the text is no object: somebody else wrote it. */
export function objectIn(ref: ResourceRef, copy: string): KubeObject | undefined {
  try {
    return objectFrom("a copy", ref, parseJson(copy));
  } catch {
    return undefined;
  }
}
