import { keysOf, nameOf, type ObjectEvent, type ReflectorEvent, type Subscription } from "@drover/kube";
import type { Wake, WakeClass } from "@drover/queue";

/**
 * The wakes that an event means for a controller: none for a bookmark, and none when the status alone of its own object
 * changed, which is what a controller's own status writes do. The status of an owned object does matter to its owner.
 */
export function wakesOf(event: ReflectorEvent, subscription: Subscription): readonly Wake[] {
  if (event.type === "synced" || event.type === "position") return [];
  if (subscription.map === "for" && isStatusChange(event)) return [];
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

const isStatusChange = ({ type, fingerprint, previous }: ObjectEvent): boolean =>
  type === "modified" && fingerprint === previous?.fingerprint;

const reasons: Readonly<Record<ObjectEvent["type"], string>> = {
  listed: "Listed",
  added: "Added",
  modified: "Modified",
  deleted: "Deleted",
};

const classOf = ({ type }: ObjectEvent): WakeClass => (type === "listed" ? "listing" : "change");
