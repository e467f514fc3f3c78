import { ReconcileFunction } from "../function/reconcile-function.ts";
import type { ObjectMetadata } from "../resource/resource.ts";

/** On an object: as long as the value is `"true"`, no run starts for the object, not even to finalize it. */
export const pausedAnnotation = "drover.dev/paused";
/** On an object: a new value causes a run, even if the object is parked. */
export const reconcileAtAnnotation = "drover.dev/reconcile-at";

/**
 * On a child that outlives its parent, and so has no owner reference: its parent, as `parentText`. A change of the child
 * wakes the parent, as that of an owned object does.
 */
export const parentAnnotation = "drover.dev/parent";

/** The manifest of the last `kubectl apply`: as large as the object, without information that the object lacks. */
export const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** A parent in the namespace of its child, or a cluster-scoped one: `Website.example.com/a`. */
export const parentText = (
  { group, kind }: { readonly group: string; readonly kind: string },
  name: string,
): string => `${group === "" ? kind : `${kind}.${group}`}/${name}`;

/**
 * True if an object's annotation pauses it. Always false for a ReconcileFunction, because its author could prevent the
 * review of the function's permissions; `spec.paused` pauses a function.
 */
export function isPausedByAnnotation(
  { group, plural }: { readonly group: string; readonly plural: string },
  { annotations }: Pick<ObjectMetadata, "annotations">,
): boolean {
  if (group === ReconcileFunction.group && plural === ReconcileFunction.plural) return false;
  return annotations?.[pausedAnnotation] === "true";
}
