import { isPausedByAnnotation, type ObjectKey } from "@drover/controller";
import {
  cachedObjectText,
  resourceNameOf,
  deltaText,
  type ObjectEvent,
  type ResourceRef,
  unemittedView,
  versionOrder,
} from "@drover/kube";
import { isIndexMapping } from "./mapping.ts";
import { isRelevantChange } from "./subscription.ts";
import type { QueueTime, Wake } from "@drover/queue";
import type { ReverseIndexes } from "../store/reverse-indexes.ts";
import type { Subscriber } from "../streams/plan-streams.ts";

/** A batch of wakes is complete when it has this number: one event may affect every key. */
const wakesPerBatch = 2_000;

/** The stream of some events, and the known age of its versions. */
export interface EventContext {
  readonly ref: ResourceRef;
  /** The selector with which the stream was requested: an object that begins to match it is shown as created. */
  readonly labelSelector?: string | undefined;
  readonly indexes: ReverseIndexes;
  /** For objects in a list: a time of the subscribers' queue before the list was requested. */
  readonly listedAfter?: QueueTime | undefined;
  /** For versions newer than this one: a time of that queue after which they were created. */
  readonly madeAfter?: { readonly version: string; readonly moment: QueueTime } | undefined;
}

/** The wakes of several subscribers, in batches. The wakes of one key by one event are merged into one. */
export async function* mergedWakes(
  events: readonly ObjectEvent[],
  subscribers: readonly Subscriber[],
  source: EventContext,
): AsyncGenerator<readonly Wake[], void, undefined> {
  let wakes = new Map<string, Wake>();
  for (const subscriber of subscribers) {
    for await (const piece of wakesOf(events, subscriber, source)) {
      for (const wake of piece) {
        // Wakes of one event for several subscribers are merged; changes of two objects are not.
        const id = [wake.key, wake.kind, wake.resourceVersion, wake.reason, wake.class, wake.delta].join(
          "\0",
        );
        wakes.set(id, mergedWake(wakes.get(id), wake));
      }
      if (wakes.size < wakesPerBatch) continue;
      yield [...wakes.values()];
      wakes = new Map();
    }
  }
  if (wakes.size > 0) yield [...wakes.values()];
}

/** Both in one, which waits only if both do. */
function mergedWake(one: Wake | undefined, other: Wake): Wake {
  if (one === undefined) return other;
  const { after: _, ...merged } = { ...one, ...other };
  const after = Math.min(one.after ?? 0, other.after ?? 0);
  return after > 0 ? { ...merged, after } : merged;
}

/**
 * The wakes that events of a kind cause for a subscriber, in batches: for the keys that an object names now and those
 * that it named before, or those that a lookup finds, if a change matters. A controller's own status writes cause none.
 */
export async function* wakesOf(
  events: readonly ObjectEvent[],
  subscriber: Subscriber,
  source: EventContext,
): AsyncGenerator<readonly Wake[], void, undefined> {
  const { ref, indexes, labelSelector } = source;
  const { for: own, map, copies = false, deltas: withDelta = false, batchFor } = subscriber.subscription;
  const relevant = events.flatMap((event) => relevantEvent(event, subscriber) ?? []);
  const wake = ({ event, isListed }: RelevantEvent, key: ObjectKey): Wake => ({
    key,
    kind: resourceNameOf(ref),
    resourceVersion: event.resourceVersion,
    reason: isListed ? "Listed" : wakeReasonOf(event, ref, key, own),
    class: isListed ? "listing" : "change",
    ...(map.by === "self" || map.by === "code" || isIndexMapping(map) ? { uid: event.uid } : {}),
    ...(map.by === "self" || isIndexMapping(map) ? pauseOf(event, ref) : {}),
    ...(copies && cachedObjectOf(event, source)),
    ...(map.by === "self" && labelSelector === undefined && event.created && { created: true }),
    ...(withDelta && { delta: deltaOf(ref, event) }),
    ...(batchFor !== undefined && { after: batchFor }),
  });
  const { looksInto } = subscriber;
  if (looksInto === undefined) {
    yield relevant.flatMap((each) => each.keys.map((key) => wake(each, key)));
    return;
  }
  const questions = queriesOf(relevant);
  for (const index of looksInto) {
    for await (const { question, keys } of indexes.find(index, questions)) {
      const causes = withDelta ? question.asking : question.asking.slice(-1);
      yield [...new Set(keys)].flatMap((key) => causes.map((each) => wake(each, key)));
    }
  }
}

/** Merges equal lookups of several events. */
function queriesOf(relevant: readonly RelevantEvent[]) {
  const asking = relevant.flatMap((each) => each.sought.map((sought) => ({ each, sought })));
  return [...Map.groupBy(asking, ({ sought }) => JSON.stringify(sought)).values()].map((same) => ({
    sought: same[0]?.sought ?? [],
    asking: same.map(({ each }) => each),
  }));
}

/**
 * The cached object of a wake, for a modified object or a version of known age. Otherwise the first run of an added
 * object reads it live: an event does not show how late it arrives.
 */
function cachedObjectOf(
  { type, object, resourceVersion }: ObjectEvent,
  { listedAfter, madeAfter }: Pick<EventContext, "listedAfter" | "madeAfter">,
): Pick<Wake, "cachedObject" | "newestAfter"> {
  const isMadeAfter = madeAfter && versionOrder(resourceVersion, madeAfter.version) === "newer";
  const newestAfter = isMadeAfter ? madeAfter.moment : type === "listed" ? listedAfter : undefined;
  const isOfRuns = newestAfter !== undefined || type === "modified";
  const copy = isOfRuns && type !== "deleted" && object !== undefined ? cachedObjectText(object) : undefined;
  return copy === undefined ? {} : { cachedObject: copy, ...(newestAfter && { newestAfter }) };
}

/**
 * `paused`: true if the object's annotation pauses it. False if the object is not at hand or is gone: the queue must
 * not hold the key back then, and the run reads the annotation.
 */
const pauseOf = ({ type, object }: ObjectEvent, ref: ResourceRef): Required<Pick<Wake, "paused">> => ({
  paused: type !== "deleted" && object !== undefined && isPausedByAnnotation(ref, object.metadata),
});

/** The change of an object, for runs with cached lists of its kind; empty if it cannot be expressed completely. */
function deltaOf(ref: ResourceRef, { type, key, resourceVersion, object }: ObjectEvent): string {
  if (type === "deleted") return deltaText({ kind: resourceNameOf(ref), key, resourceVersion });
  const copy = object === undefined ? undefined : cachedObjectText(object);
  return copy === undefined ? "" : deltaText({ kind: resourceNameOf(ref), key, resourceVersion, copy });
}

interface RelevantEvent {
  readonly event: ObjectEvent;
  /** The object is emitted for the first time, and may be old. */
  readonly isListed: boolean;
  readonly keys: readonly ObjectKey[];
  /** The terms of the object as it is now, and as it was before. */
  readonly sought: readonly (readonly string[])[];
}

/** The effect of an event on a subscriber; undefined if there is none. */
function relevantEvent(event: ObjectEvent, { subscription: { id } }: Subscriber): RelevantEvent | undefined {
  const now = event.matched[id];
  const replaced = event.previous !== undefined && event.previous.uid !== event.uid;
  const before = replaced ? undefined : event.previous?.matched[id];
  if (event.type !== "deleted" && !isRelevantChange(before, now)) return undefined;
  const results = [now, before].filter((result) => result !== undefined);
  return {
    event,
    isListed: event.type === "listed" && (before === undefined || before.view === unemittedView),
    keys: [...new Set(results.flatMap(({ keys }) => keys))],
    sought: results.map(({ sought = [] }) => sought),
  };
}

/** The reason of a wake, for people: a change of the key's own object, or of the other object. */
const wakeReasonOf = (
  { type, key }: ObjectEvent,
  ref: ResourceRef,
  woken: ObjectKey,
  own: ResourceRef,
): string =>
  key === woken && resourceNameOf(ref) === resourceNameOf(own)
    ? reasons[type]
    : `${reasons[type]} ${ref.kind} ${key}`;

const reasons: Readonly<Record<ObjectEvent["type"], string>> = {
  listed: "Modified",
  added: "Added",
  modified: "Modified",
  deleted: "Deleted",
};
