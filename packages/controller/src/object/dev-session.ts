import { ReconcileFunction } from "../function/reconcile-function.ts";
import type { ObjectMetadata } from "../resource/resource.ts";

/**
 * The label of an object that a session of `drover dev` reconciles; its value is the session. Deployed functions do not
 * run the object, not even to finalize it, and acknowledge the session in its status.
 */
export const sessionLabel = "drover.dev/dev";
/** On such an object: proves that the session has chosen it. Others may set the label, too. */
export const sessionMarkAnnotation = "drover.dev/dev-mark";

/**
 * The session of `drover dev` that reconciles an object; undefined if there is none. A ReconcileFunction has none: its
 * author could prevent the review of the function's permissions.
 */
export function sessionOf(
  { group, plural }: { readonly group: string; readonly plural: string },
  { labels }: Pick<ObjectMetadata, "labels">,
): string | undefined {
  if (group === ReconcileFunction.group && plural === ReconcileFunction.plural) return undefined;
  return labels?.[sessionLabel];
}
