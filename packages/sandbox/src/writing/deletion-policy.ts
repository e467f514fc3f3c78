// How a deletion treats what an object owns: finalizers on it that the garbage collector waits for (registry/generic's
// deletionFinalizersForGarbageCollection). The server sets them whether or not something collects.
import type { Json } from "../json.ts";
import { finalizersOf, withMeta } from "../kube-object.ts";
import type { KubeObject } from "../kube-object.ts";

export type Propagation = "Background" | "Foreground" | "Orphan";
export const isPropagation = (value: Json): value is Propagation =>
  value === "Background" || value === "Foreground" || value === "Orphan";

export const orphaning = "orphan";
export const inForeground = "foregroundDeletion";

/** The object with the finalizers for a deletion that asks for this policy, or for what its finalizers say. */
export function withDeletionPolicy(object: KubeObject, asked: Propagation | undefined): KubeObject {
  const known = finalizersOf(object);
  const orphans = asked === undefined ? known.includes(orphaning) : asked === "Orphan";
  const waits = asked === undefined ? known.includes(inForeground) && !orphans : asked === "Foreground";
  const kept = known.filter((one) => one !== orphaning && one !== inForeground);
  const wanted = [...kept, ...(orphans ? [orphaning] : []), ...(waits ? [inForeground] : [])];
  const same = wanted.length === known.length && wanted.every((one) => known.includes(one));
  return same ? object : withMeta(object, "finalizers", wanted.length > 0 ? wanted : undefined);
}
