// The treatment of the dependents of a deleted object: finalizers that the garbage collector handles (registry/generic,
// deletionFinalizersForGarbageCollection). The server sets them even if no collector runs.
import type { Json } from "../json.ts";
import { finalizersOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";
export const isPropagation = (value: Json): value is Propagation =>
  value === "Background" || value === "Foreground" || value === "Orphan";

export const orphaning = "orphan";
export const inForeground = "foregroundDeletion";

/** The object with the finalizers for a deletion with this policy; without one, the finalizers of the object decide. */
export function withDeletionPolicy(object: KubeObject, asked: Propagation | undefined): KubeObject {
  const known = finalizersOf(object);
  const orphans = asked === undefined ? known.includes(orphaning) : asked === "Orphan";
  const waits = asked === undefined ? known.includes(inForeground) && !orphans : asked === "Foreground";
  const kept = known.filter((one) => one !== orphaning && one !== inForeground);
  const wanted = [...kept, ...(orphans ? [orphaning] : []), ...(waits ? [inForeground] : [])];
  const same = wanted.length === known.length && wanted.every((one) => known.includes(one));
  return same ? object : withMeta(object, "finalizers", wanted.length > 0 ? wanted : undefined);
}
