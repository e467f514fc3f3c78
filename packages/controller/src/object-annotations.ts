import { ReconcileFunction } from "./reconcile-function.ts";
import type { ObjectMetadata } from "./resource.ts";

/** On an object: the value `"true"` starts no run for it, not even to finalize it, until the annotation is removed. */
export const pausedAnnotation = "drover.dev/paused";
/** On an object: another value of it causes a run, also of an object that is parked. */
export const reconcileAtAnnotation = "drover.dev/reconcile-at";

/**
 * Whether an object's annotation pauses it. A ReconcileFunction's never does, because its author could keep the function's
 * permissions from being reviewed; `spec.paused` pauses a function.
 */
export function isPausedByAnnotation(
  { group, plural }: { readonly group: string; readonly plural: string },
  { annotations }: Pick<ObjectMetadata, "annotations">,
): boolean {
  if (group === ReconcileFunction.group && plural === ReconcileFunction.plural) return false;
  return annotations?.[pausedAnnotation] === "true";
}
