import { InvalidKeyError, type Log, type ObjectKey } from "@drover/controller";
import { keyOf, type KubeObject } from "../kube-object.ts";
import { meaningsOf, type Subscription } from "../subscription.ts";
import { difference, ended, type Sighting } from "./difference.ts";
import { isObjectEvent, type ObjectEvent, type ReflectorEvent } from "./object-event.ts";
import type { ResourceVersion } from "./resource-version.ts";
import { announced, type SeenIndex, type SeenObject } from "./seen-index.ts";
import type { Telling } from "./stream.ts";

/**
 * Makes events of what the stream tells, by comparing it with what was seen.
 *
 * Guarantees: events are taken before what they told is put into the index, which knows it before more is told. So whatever
 * breaks in between is told again. A new object's mapped keys are in the index before its event is emitted, so that a crash loses no deletion.
 */
export interface Teller {
  /** A new listing begins: what it names is collected from here. */
  beginListing(): void;
  tell(tellings: readonly Telling[], stand: Stand): Promise<void>;
}

/** Where the stream stands. */
export interface Stand {
  /** It has told no whole listing yet. */
  readonly first: boolean;
  /** Before what is told now, and after it. */
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
  /** What the listing that is under way has named. What it took back since is no longer in the index. */
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
    // A streamed listing goes on as a watch: what came with its end was told by that.
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

/** What sightings tell, in their order. */
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

/** What is put into the index, and what goes from it, when these events were taken. */
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

// Kubernetes lets a few kinds (RBAC) have names that no key can carry; such an object must not stop its neighbours.
function hasKey(object: KubeObject, log: Log): boolean {
  try {
    keyOf(object);
    return true;
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) throw error;
    log.warn(
      { name: object.metadata.name, kind: object.kind, error },
      "an object is passed over: no key can name it",
    );
    return false;
  }
}
