import { InvalidKeyError, type Log, type ObjectKey } from "@drover/controller";
import { keyOf, type KubeObject } from "../kube-object.ts";
import { meaningsOf, type Subscription } from "../subscription.ts";
import { difference, ended, type Sighting } from "./difference.ts";
import { isObjectEvent, type ObjectEvent, type ReflectorEvent } from "./object-event.ts";
import type { ResourceVersion } from "./resource-version.ts";
import { announced, type SeenIndex, type SeenObject } from "./seen-index.ts";
import type { Telling } from "./stream.ts";

/**
 * Emits events for the observations of a stream, by comparing these with the index.
 *
 * Guarantees: the receiver processes events before they are written to the index, and the index is written before the
 * next events. So a failure in between repeats events. A new object's mapped keys are in the index before its event is
 * emitted, so that a crash loses no deletion.
 */
export interface Teller {
  /** A new list begins: its keys are collected from here on. */
  beginListing(): void;
  tell(tellings: readonly Telling[], stand: Stand): Promise<void>;
}

/** The position of the stream. */
export interface Stand {
  /** No list was emitted completely yet. */
  readonly first: boolean;
  /** The position before these observations, and after them. */
  readonly before: ResourceVersion | undefined;
  readonly after: ResourceVersion | undefined;
}

export interface TellerOptions {
  readonly seen: SeenIndex;
  readonly subscriptions: readonly Subscription[];
  readonly onEvents: (events: readonly ReflectorEvent[]) => Promise<void> | void;
  readonly log: Log;
}

export function teller({ seen, subscriptions, onEvents, log }: TellerOptions): Teller {
  /** Keys seen in the list in progress. Keys deleted meanwhile have already left the index. */
  let listed = new Set<ObjectKey>();

  const take = async (events: readonly ReflectorEvent[], stand: Standing): Promise<void> => {
    if (events.length === 0) return;
    const put = events.flatMap(announcement);
    if (put.length > 0) await seen.write({ put, forget: [], position: undefined, whole: false });
    await onEvents(events);
    await seen.write({ ...remembered(events), ...stand });
  };
  const sweep = async (position: ResourceVersion | undefined, exact: boolean): Promise<void> => {
    for await (const gone of seen.allBut(listed)) {
      await take(
        gone.map((one) => ended(one, exact)),
        { position, whole: false },
      );
    }
    listed = new Set();
  };

  const takeSightings = async (
    tellings: readonly Telling[],
    stand: Stand,
    position: ResourceVersion | undefined,
  ): Promise<void> => {
    const sightings = tellings
      .flatMap((telling) => seenBy(telling, stand))
      .filter(({ object }) => hasKey(object, log))
      .map((sight): Sighting => ({ ...sight, means: meaningsOf(sight.object, subscriptions) }));
    for (const { by, object } of sightings) if (by === "listing") listed.add(keyOf(object));
    const events = await compared(sightings, seen);
    await take([...events, ...tellings.flatMap(bookmark)], { position, whole: false });
  };
  const tell = async (tellings: readonly Telling[], stand: Stand): Promise<void> => {
    const end = tellings.findIndex((telling) => telling.tell === "complete");
    const complete = tellings[end];
    if (complete?.tell !== "complete") return takeSightings(tellings, stand, stand.after);
    await takeSightings(tellings.slice(0, end), stand, stand.before);
    await sweep(stand.before, complete.exact);
    const { resourceVersion } = complete;
    await take([{ type: "synced", resourceVersion }], { position: resourceVersion, whole: true });
    // A streamed list continues as a watch: the frames after its end are changes that the watch showed.
    await tell(tellings.slice(end + 1), { first: false, before: resourceVersion, after: stand.after });
  };
  return { beginListing: () => (listed = new Set()), tell };
}

interface Standing {
  readonly position: ResourceVersion | undefined;
  readonly whole: boolean;
}

type Sight = Sighting extends infer Each ? (Each extends Sighting ? Omit<Each, "means"> : never) : never;

function seenBy(telling: Telling, { first, before }: Stand): readonly Sight[] {
  switch (telling.tell) {
    case "listed": {
      const { objects, believed } = telling;
      const how = { by: "listing", is: "present", first, believed, watchedUpTo: before } as const;
      return objects.map((object) => ({ ...how, object }));
    }
    case "changed":
      return [{ by: "watch", is: "present", object: telling.object }];
    case "gone":
      return [{ by: "watch", is: "deleted", object: telling.object }];
    case "complete":
    case "position":
      return [];
  }
}

/** The events that these observations require, in their order. */
async function compared(sightings: readonly Sighting[], seen: SeenIndex): Promise<readonly ObjectEvent[]> {
  const keys = [...new Set(sightings.map(({ object }) => keyOf(object)))];
  const known = await seen.get(keys);
  const last = new Map(keys.map((key, index) => [key, known[index]]));
  return sightings.flatMap((sighting) => {
    const events = difference(last.get(keyOf(sighting.object)), sighting);
    for (const event of events) last.set(event.key, isToRemember(event) ? seenFrom(event) : undefined);
    return events;
  });
}

/** The records to put into the index, and the keys to remove from it, after these events. */
function remembered(events: readonly ReflectorEvent[]) {
  const last = [...new Map(events.filter(isObjectEvent).map((event) => [event.key, event])).values()];
  return {
    put: last.filter(isToRemember).map(seenFrom),
    forget: last.filter((event) => !isToRemember(event)).map(({ key }) => key),
  };
}

const isToRemember = ({ type, means }: ObjectEvent): boolean =>
  type !== "deleted" && Object.keys(means).length > 0;

const seenFrom = ({ key, uid, resourceVersion, means }: ObjectEvent): SeenObject => ({
  key,
  uid,
  resourceVersion,
  meant: means,
});

/**
 * The record that is written for a new object before its event is emitted. Without it, a crash between the event and the
 * index write leaves no record; if the object is deleted before the next list, no deletion event is emitted.
 */
const announcement = (event: ReflectorEvent): readonly SeenObject[] =>
  isObjectEvent(event) && isToRemember(event) && event.previous === undefined
    ? [announced(seenFrom(event))]
    : [];

const bookmark = (telling: Telling): readonly ReflectorEvent[] =>
  telling.tell === "position" ? [{ type: "position", resourceVersion: telling.resourceVersion }] : [];

// Kubernetes allows a few kinds (RBAC) names that cannot be in a key. Such an object must not stop the others.
function hasKey(object: KubeObject, log: Log): boolean {
  try {
    keyOf(object);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    log.warn(
      { name: object.metadata.name, kind: object.kind, error },
      "an object is skipped: its name cannot be in a key",
    );
    return false;
  }
}
