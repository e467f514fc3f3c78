import { isPausedByAnnotation, type ObjectKey } from "@drover/controller";
import {
  copyOf,
  isFiling,
  isNews,
  nameOf,
  newsText,
  type ObjectEvent,
  type ResourceRef,
  untoldView,
  versionOrder,
} from "@drover/kube";
import type { QueueMoment, Wake } from "@drover/queue";
import type { Files } from "./files.ts";
import type { Listener } from "./plan-streams.ts";

/** A batch of wakes is complete when it has this number: one event may affect every key. */
const mostTogether = 2_000;

/** The stream of some events, and the known age of its versions. */
export interface EventSource {
  readonly ref: ResourceRef;
  readonly files: Files;
  /** For objects in a list: a time of the subscribers' queue before the list was requested. */
  readonly listedAfter?: QueueMoment | undefined;
  /** For versions newer than this one: a time of that queue after which they were created. */
  readonly madeAfter?: { readonly version: string; readonly moment: QueueMoment } | undefined;
}

/** The wakes of several subscribers, in batches. The wakes of one key by one event are merged into one. */
export async function* wakesTogether(
  events: readonly ObjectEvent[],
  listeners: readonly Listener[],
  source: EventSource,
): AsyncGenerator<readonly Wake[], void, undefined> {
  let wakes = new Map<string, Wake>();
  for (const listener of listeners) {
    for await (const piece of wakesOf(events, listener, source)) {
      for (const wake of piece) {
        // Wakes of one event for several subscribers are merged; changes of two objects are not.
        const id = [wake.key, wake.kind, wake.resourceVersion, wake.reason, wake.class, wake.news].join("\0");
        wakes.set(id, { ...wakes.get(id), ...wake });
      }
      if (wakes.size < mostTogether) continue;
      yield [...wakes.values()];
      wakes = new Map();
    }
  }
  if (wakes.size > 0) yield [...wakes.values()];
}

/**
 * The wakes that events of a kind cause for a subscriber, in batches: for the keys that an object names now and those
 * that it named before, or those that a lookup finds, if a change matters. A controller's own status writes cause none.
 */
export async function* wakesOf(
  events: readonly ObjectEvent[],
  listener: Listener,
  source: EventSource,
): AsyncGenerator<readonly Wake[], void, undefined> {
  const { ref, files } = source;
  const { for: own, map, copies = false, news: telling = false } = listener.subscription;
  const news = events.flatMap((event) => newsFor(event, listener) ?? []);
  const wake = ({ event, isListed }: News, key: ObjectKey): Wake => ({
    key,
    kind: nameOf(ref),
    resourceVersion: event.resourceVersion,
    reason: isListed ? "Listed" : changeOf(event, ref, key, own),
    class: isListed ? "listing" : "change",
    ...(map.by === "self" || map.by === "code" || isFiling(map) ? { uid: event.uid } : {}),
    ...(map.by === "self" || isFiling(map) ? pauseOf(event, ref) : {}),
    ...(copies && broughtBy(event, source)),
    ...(telling && { news: newsOf(ref, event) }),
  });
  const { looksInto } = listener;
  if (looksInto === undefined) {
    yield news.flatMap((each) => each.keys.map((key) => wake(each, key)));
    return;
  }
  const questions = questionsOf(news);
  for (const file of looksInto) {
    for await (const { question, keys } of files.find(file, questions)) {
      const tells = telling ? question.asking : question.asking.slice(-1);
      yield [...new Set(keys)].flatMap((key) => tells.map((each) => wake(each, key)));
    }
  }
}

/** Merges equal lookups of several events. */
function questionsOf(news: readonly News[]) {
  const asking = news.flatMap((each) => each.sought.map((sought) => ({ each, sought })));
  return [...Map.groupBy(asking, ({ sought }) => JSON.stringify(sought)).values()].map((same) => ({
    sought: same[0]?.sought ?? [],
    asking: same.map(({ each }) => each),
  }));
}

/**
 * The cached object of a wake, for a modified object or a version of known age. Otherwise the first run of an added
 * object reads it live: an event does not show how late it arrives.
 */
function broughtBy(
  { type, object, resourceVersion }: ObjectEvent,
  { listedAfter, madeAfter }: Pick<EventSource, "listedAfter" | "madeAfter">,
): Pick<Wake, "copy" | "newestAfter"> {
  const isMadeAfter = madeAfter && versionOrder(resourceVersion, madeAfter.version) === "newer";
  const newestAfter = isMadeAfter ? madeAfter.moment : type === "listed" ? listedAfter : undefined;
  const isOfRuns = newestAfter !== undefined || type === "modified";
  const copy = isOfRuns && type !== "deleted" && object !== undefined ? copyOf(object) : undefined;
  return copy === undefined ? {} : { copy, ...(newestAfter && { newestAfter }) };
}

/**
 * `paused`: true if the object's annotation pauses it. False if the object is not at hand or is gone: the queue must
 * not hold the key back then, and the run reads the annotation.
 */
const pauseOf = ({ type, object }: ObjectEvent, ref: ResourceRef): Required<Pick<Wake, "paused">> => ({
  paused: type !== "deleted" && object !== undefined && isPausedByAnnotation(ref, object.metadata),
});

/** The change of an object, for runs with cached lists of its kind; empty if it cannot be expressed completely. */
function newsOf(ref: ResourceRef, { type, key, resourceVersion, object }: ObjectEvent): string {
  if (type === "deleted") return newsText({ kind: nameOf(ref), key, resourceVersion });
  const copy = object === undefined ? undefined : copyOf(object);
  return copy === undefined ? "" : newsText({ kind: nameOf(ref), key, resourceVersion, copy });
}

interface News {
  readonly event: ObjectEvent;
  /** The object is emitted for the first time, and may be old. */
  readonly isListed: boolean;
  readonly keys: readonly ObjectKey[];
  /** The terms of the object as it is now, and as it was before. */
  readonly sought: readonly (readonly string[])[];
}

/** The effect of an event on a subscriber; undefined if there is none. */
function newsFor(event: ObjectEvent, { subscription: { id } }: Listener): News | undefined {
  const now = event.means[id];
  const replaced = event.previous !== undefined && event.previous.uid !== event.uid;
  const before = replaced ? undefined : event.previous?.meant[id];
  if (event.type !== "deleted" && !isNews(before, now)) return undefined;
  const meant = [now, before].filter((meaning) => meaning !== undefined);
  return {
    event,
    isListed: event.type === "listed" && (before === undefined || before.view === untoldView),
    keys: [...new Set(meant.flatMap(({ keys }) => keys))],
    sought: meant.map(({ sought = [] }) => sought),
  };
}

/** The reason of a wake, for people: a change of the key's own object, or of the other object. */
const changeOf = (
  { type, key }: ObjectEvent,
  ref: ResourceRef,
  woken: ObjectKey,
  own: ResourceRef,
): string =>
  key === woken && nameOf(ref) === nameOf(own) ? reasons[type] : `${reasons[type]} ${ref.kind} ${key}`;

const reasons: Readonly<Record<ObjectEvent["type"], string>> = {
  listed: "Modified",
  added: "Added",
  modified: "Modified",
  deleted: "Deleted",
};
