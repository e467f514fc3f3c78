import { isFiling, isNews, type ObjectEvent } from "@drover/kube";
import type { Listener } from "./plan-streams.ts";
import type { Filed } from "./stream-store.ts";

/** The index entries of the objects of these events, if they have changed. */
export function filingsOf(events: readonly ObjectEvent[], listeners: readonly Listener[]): readonly Filed[] {
  const files = listeners.flatMap(({ subscription: { id, map } }) => (isFiling(map) ? [id] : []));
  const isFiledAnew = ({ type, means, previous }: ObjectEvent): boolean =>
    type === "deleted" || files.some((id) => isNews(previous?.meant[id], means[id]));
  if (files.length === 0) return [];
  const anew = new Set(events.filter(isFiledAnew).map(({ key }) => key));
  const last = new Map(events.map((event) => [event.key, event.means]));
  return [...anew].map((key) => ({
    key,
    files: Object.fromEntries(files.map((id) => [id, last.get(key)?.[id]?.filed ?? []])),
  }));
}
