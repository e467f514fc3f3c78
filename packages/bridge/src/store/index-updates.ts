import { isIndexMapping } from "../mapping/mapping.ts";
import { isRelevantChange } from "../mapping/subscription.ts";
import type { ObjectEvent } from "@drover/kube";
import type { Subscriber } from "../streams/plan-streams.ts";
import type { IndexUpdate } from "./stream-store.ts";

/** The index entries of the objects of these events, if they have changed. */
export function indexUpdatesOf(
  events: readonly ObjectEvent[],
  subscribers: readonly Subscriber[],
): readonly IndexUpdate[] {
  const indexIds = subscribers.flatMap(({ subscription: { id, map } }) => (isIndexMapping(map) ? [id] : []));
  const isChanged = ({ type, matched, previous }: ObjectEvent): boolean =>
    type === "deleted" || indexIds.some((id) => isRelevantChange(previous?.matched[id], matched[id]));
  if (indexIds.length === 0) return [];
  const changed = new Set(events.filter(isChanged).map(({ key }) => key));
  const last = new Map(events.map((event) => [event.key, event.matched]));
  return [...changed].map((key) => ({
    key,
    entries: Object.fromEntries(indexIds.map((id) => [id, last.get(key)?.[id]?.entries ?? []])),
  }));
}
