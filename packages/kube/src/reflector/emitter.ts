import { InvalidKeyError, type Log, type ObjectKey } from "@drover/controller";
import { keyOf, type KubeObject, type ResourceVersion } from "../objects/kube-object.ts";
import {
  changeEvents,
  deletionEvent,
  type ObservedObject,
  isObjectEvent,
  type ObjectEvent,
  type ReflectorEvent,
} from "./change-events.ts";
import type { MappingResults } from "./mapping-result.ts";
import { announced, type SeenIndex, type SeenObject } from "./seen-index.ts";
import type { StreamObservation } from "./stream.ts";

/**
 * Emits events for the observations of a stream, by comparing these with the index.
 *
 * Guarantees: the receiver processes events before they are written to the index, and the index is written before the
 * next events. So a failure in between repeats events. A new object's mapped keys are in the index before its event is
 * emitted, so that a crash loses no deletion.
 */
export interface Emitter {
  /** A new list begins: its keys are collected from here on. */
  beginListing(): void;
  emit(observations: readonly StreamObservation[], progress: StreamProgress): Promise<void>;
}

/** The position of the stream. */
export interface StreamProgress {
  /** No list was emitted completely yet. */
  readonly first: boolean;
  /** The position before these observations, and after them. */
  readonly before: ResourceVersion | undefined;
  readonly after: ResourceVersion | undefined;
}

export interface EmitterOptions {
  readonly seen: SeenIndex;
  readonly map: (object: KubeObject) => MappingResults;
  readonly onEvents: (events: readonly ReflectorEvent[]) => Promise<void> | void;
  readonly log: Log;
}

export function emitter({ seen, map, onEvents, log }: EmitterOptions): Emitter {
  /** Keys seen in the list in progress. Keys deleted meanwhile have already left the index. */
  let listed = new Set<ObjectKey>();

  const take = async (events: readonly ReflectorEvent[], index: IndexPosition): Promise<void> => {
    if (events.length === 0) return;
    const put = events.flatMap(announcement);
    if (put.length > 0) await seen.write({ put, forget: [], position: undefined, whole: false });
    await onEvents(events);
    await seen.write({ ...indexChangeOf(events), ...index });
  };
  const sweep = async (position: ResourceVersion | undefined, exact: boolean): Promise<void> => {
    for await (const gone of seen.allBut(listed)) {
      await take(
        gone.map((one) => deletionEvent(one, exact)),
        { position, whole: false },
      );
    }
    listed = new Set();
  };

  const emitObserved = async (
    observations: readonly StreamObservation[],
    progress: StreamProgress,
    position: ResourceVersion | undefined,
  ): Promise<void> => {
    const observed = observations
      .flatMap((observation) => observedObjects(observation, progress))
      .filter(({ object }) => hasValidKey(object, log))
      .map((one): ObservedObject => ({ ...one, matched: map(one.object) }));
    for (const { by, object } of observed) if (by === "listing") listed.add(keyOf(object));
    const events = await eventsFor(observed, seen);
    await take([...events, ...observations.flatMap(bookmark)], { position, whole: false });
  };
  const emit = async (
    observations: readonly StreamObservation[],
    progress: StreamProgress,
  ): Promise<void> => {
    const end = observations.findIndex((observation) => observation.type === "complete");
    const complete = observations[end];
    if (complete?.type !== "complete") return emitObserved(observations, progress, progress.after);
    await emitObserved(observations.slice(0, end), progress, progress.before);
    await sweep(progress.before, complete.exact);
    const { resourceVersion } = complete;
    await take([{ type: "synced", resourceVersion }], { position: resourceVersion, whole: true });
    // A streamed list continues as a watch: the frames after its end are changes that the watch showed.
    await emit(observations.slice(end + 1), { first: false, before: resourceVersion, after: progress.after });
  };
  return { beginListing: () => (listed = new Set()), emit };
}

interface IndexPosition {
  readonly position: ResourceVersion | undefined;
  readonly whole: boolean;
}

type UnmappedObject = ObservedObject extends infer Each
  ? Each extends ObservedObject
    ? Omit<Each, "matched">
    : never
  : never;

function observedObjects(
  observation: StreamObservation,
  { first, before }: StreamProgress,
): readonly UnmappedObject[] {
  switch (observation.type) {
    case "listed": {
      const { objects, believed } = observation;
      const how = { by: "listing", is: "present", first, believed, watchedUpTo: before } as const;
      return objects.map((object) => ({ ...how, object }));
    }
    case "changed":
      return [{ by: "watch", is: "present", object: observation.object, created: observation.created }];
    case "gone":
      return [{ by: "watch", is: "deleted", object: observation.object }];
    case "complete":
    case "position":
      return [];
  }
}

/** The events that these observations require, in their order. */
async function eventsFor(
  observed: readonly ObservedObject[],
  seen: SeenIndex,
): Promise<readonly ObjectEvent[]> {
  const keys = [...new Set(observed.map(({ object }) => keyOf(object)))];
  const known = await seen.get(keys);
  const last = new Map(keys.map((key, index) => [key, known[index]]));
  return observed.flatMap((one) => {
    const events = changeEvents(last.get(keyOf(one.object)), one);
    for (const event of events) last.set(event.key, isRecorded(event) ? seenObjectOf(event) : undefined);
    return events;
  });
}

/** The records to put into the index, and the keys to remove from it, after these events. */
function indexChangeOf(events: readonly ReflectorEvent[]) {
  const last = [...new Map(events.filter(isObjectEvent).map((event) => [event.key, event])).values()];
  return {
    put: last.filter(isRecorded).map(seenObjectOf),
    forget: last.filter((event) => !isRecorded(event)).map(({ key }) => key),
  };
}

const isRecorded = ({ type, matched }: ObjectEvent): boolean =>
  type !== "deleted" && Object.keys(matched).length > 0;

const seenObjectOf = ({ key, uid, resourceVersion, matched }: ObjectEvent): SeenObject => ({
  key,
  uid,
  resourceVersion,
  matched,
});

/**
 * The record that is written for a new object before its event is emitted. Without it, a crash between the event and the
 * index write leaves no record; if the object is deleted before the next list, no deletion event is emitted.
 */
const announcement = (event: ReflectorEvent): readonly SeenObject[] =>
  isObjectEvent(event) && isRecorded(event) && event.previous === undefined
    ? [announced(seenObjectOf(event))]
    : [];

const bookmark = (observation: StreamObservation): readonly ReflectorEvent[] =>
  observation.type === "position" ? [{ type: "position", resourceVersion: observation.resourceVersion }] : [];

// Kubernetes allows a few kinds (RBAC) names that cannot be in a key. Such an object must not stop the others.
function hasValidKey(object: KubeObject, log: Log): boolean {
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
