import { keysOf, nameOf, type ObjectEvent, type ReflectorEvent, type Subscription } from "@drover/kube";
import type { Wake, WakeClass } from "@drover/queue";

/**
 * The wakes that an event means for a controller: none for a bookmark, and none for a change of status alone, which is
 * what a controller's own status writes are.
 */
export function wakesOf(event: ReflectorEvent, subscription: Subscription): readonly Wake[] {
  if (event.type === "synced" || event.type === "position") return [];
  if (event.type === "modified" && event.fingerprint === event.previous?.fingerprint) return [];
  const { uid, resourceVersion } = event.object;
  return keysOf(event, subscription).map((key) => ({
    key,
    kind: nameOf(subscription.ref),
    resourceVersion,
    reason: reasons[event.type],
    class: classOf(event),
    ...(subscription.map === "for" ? { uid } : {}),
  }));
}

const reasons: Readonly<Record<ObjectEvent["type"], string>> = {
  listed: "Listed",
  added: "Added",
  modified: "Modified",
  deleted: "Deleted",
};

const classOf = ({ type }: ObjectEvent): WakeClass => (type === "listed" ? "listing" : "change");
