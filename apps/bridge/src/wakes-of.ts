import { type Meaning, nameOf, type ObjectEvent, type ResourceRef } from "@drover/kube";
import type { Wake } from "@drover/queue";
import type { Listener } from "./plan-streams.ts";

/**
 * The wakes that an event means for a listener: for the keys that the object names now and those that it named before,
 * unless nothing that matters has changed. A controller's own status writes are no matter of its own.
 */
export function wakesOf(
  event: ObjectEvent,
  { subscription: { id, map } }: Listener,
  ref: ResourceRef,
): readonly Wake[] {
  const now = event.means[id];
  const replaced = event.previous !== undefined && event.previous.uid !== event.uid;
  const before = replaced ? undefined : event.previous?.meant[id];
  if (event.type !== "deleted" && isSame(before, now)) return [];
  const isNews = event.type === "listed" && before === undefined;
  const keys = new Set([...(now?.keys ?? []), ...(before?.keys ?? [])]);
  return [...keys].map((key) => ({
    key,
    kind: nameOf(ref),
    resourceVersion: event.resourceVersion,
    reason: isNews ? "Listed" : reasons[event.type],
    class: isNews ? "listing" : "change",
    ...(map.by === "self" ? { uid: event.uid } : {}),
  }));
}

function isSame(before: Meaning | undefined, now: Meaning | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  return before.view === now.view && before.keys.join() === now.keys.join();
}

const reasons: Readonly<Record<ObjectEvent["type"], string>> = {
  listed: "Modified",
  added: "Added",
  modified: "Modified",
  deleted: "Deleted",
};
