import { ReconcileFunction } from "./reconcile-function.ts";
import type { ObjectMetadata } from "./resource.ts";

/** On an object: with the value `"true"` no run starts for it, a deletion's neither, before it is taken away. */
export const pausedAnnotation = "drover.dev/paused";
/** On an object: another value of it causes a run, also of an object that is parked. */
export const reconcileAtAnnotation = "drover.dev/reconcile-at";

/**
 * Whether an object's annotation says that no run is to start for it. A ReconcileFunction's does not: whoever writes one could
 * keep its permissions from being reviewed. `spec.paused` is for that.
 */
export function isPausedByAnnotation(
  { group, plural }: { readonly group: string; readonly plural: string },
  { annotations }: Pick<ObjectMetadata, "annotations">,
): boolean {
  if (group === ReconcileFunction.group && plural === ReconcileFunction.plural) return false;
  return annotations?.[pausedAnnotation] === "true";
}
