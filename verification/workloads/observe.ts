// What happens in all namespaces, by watches of this test's own: one for each kind.
import type { KubeClient, KubeObject, WatchFrame } from "@drover/kube";
import { isJson, isObject, textAt } from "../../packages/sandbox/src/json.ts";
import type { JsonObject } from "../../packages/sandbox/src/json.ts";
import { kinds, runLabel, uidOf, versionOf } from "./sequences/kinds.ts";
import type { Kind } from "./sequences/kinds.ts";

/** One line of a watch. */
export interface Seen {
  readonly kind: Kind;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: JsonObject;
}

/** The objects as they were after all that was seen. */
export function livesOf(seen: readonly Seen[]): Map<string, Seen> {
  const lives = new Map<string, Seen>();
  for (const one of seen) follow(lives, one);
  return lives;
}

/** Those of a kind, as they were last. */
export const objectsOf = (lives: ReadonlyMap<string, Seen>, kind: Kind): readonly JsonObject[] =>
  [...lives.values()].filter((one) => one.kind === kind).map(({ object }) => object);

/** The order in which objects of all kinds were written: one etcd counts them. */
export const inOrder = (seen: readonly Seen[]): readonly Seen[] =>
  [...seen].sort((a, b) => versionOf(a.object) - versionOf(b.object));

/** Keeps them up to date. */
export function follow(lives: Map<string, Seen>, one: Seen): void {
  if (one.type === "DELETED") lives.delete(uidOf(one.object));
  else lives.set(uidOf(one.object), one);
}

/** What is and was in one namespace. */
export interface World {
  readonly namespace: string;
  objects(kind: Kind): readonly JsonObject[];
  /** Everything that was seen, oldest first. */
  readonly seen: readonly Seen[];
  /** Uids of pods that the test itself has deleted. */
  readonly deletedByHand: Set<string>;
  /** Time of the last sign of progress, in milliseconds since 1970. */
  lastChange(): number;
  /** Whether all events are there that were recorded before a moment, here and elsewhere. */
  toldUpTo(moment: number): boolean;
}

export interface Observer {
  world(namespace: string): World;
  forget(namespace: string): void;
  /** Rejects when a watch has failed: the state is stale from then on. */
  readonly failed: Promise<never>;
  close(): void;
}

interface Kept extends World {
  readonly live: Map<string, Seen>;
  readonly seen: Seen[];
  changedAt: number;
}

/**
 * Progress of the event recorders. A busy recorder writes events seconds late, but one after the other, for
 * all namespaces: a recorder that has written a newer one, or none for a while, has written all.
 */
function recorders() {
  const known = new Map<string, { recordedAt: number; heardAt: number }>();
  const silenceMs = 4_000;
  return {
    observe(event: JsonObject): void {
      const recorder = textAt(event, "source", "component") ?? textAt(event, "reportingComponent") ?? "";
      const time = textAt(event, "eventTime") ?? textAt(event, "lastTimestamp");
      const recordedAt = Math.max(known.get(recorder)?.recordedAt ?? 0, Date.parse(time ?? "") || 0);
      known.set(recorder, { recordedAt, heardAt: Date.now() });
    },
    toldUpTo: (moment: number): boolean =>
      [...known.values()].every(
        ({ recordedAt, heardAt }) => recordedAt > moment || Date.now() - heardAt > silenceMs,
      ),
  };
}

function emptyWorld(namespace: string, toldUpTo: World["toldUpTo"]): Kept {
  const live = new Map<string, Seen>();
  const kept: Kept = {
    namespace,
    live,
    seen: [],
    deletedByHand: new Set(),
    changedAt: Date.now(),
    toldUpTo,
    objects: (kind) => [...live.values()].filter((one) => one.kind === kind).map(({ object }) => object),
    lastChange: () => kept.changedAt,
  };
  return kept;
}

/** A controller that retries in vain writes an event each time, and a node reports that it is there. */
const isProgress = ({ kind, type, object }: Seen): boolean =>
  type === "ADDED" || (kind === "Event" ? textAt(object, "reason") !== "FailedCreate" : kind !== "Node");

function take(world: Kept, one: Seen): void {
  follow(world.live, one);
  world.seen.push(one);
  if (isProgress(one)) world.changedAt = Date.now();
}

const asJson = (object: KubeObject): JsonObject => {
  const value: unknown = object;
  if (isJson(value) && isObject(value)) return value;
  throw new Error(`${object.kind} ${object.metadata.name} is not JSON.`);
};

/** Watches these kinds, and Events. */
export async function observe(client: KubeClient, followed: readonly Kind[]): Promise<Observer> {
  const worlds = new Map<string, Kept>();
  const events = recorders();
  const closing = new AbortController();
  const failing = Promise.withResolvers<never>();
  failing.promise.catch(() => undefined);
  const emit = (kind: Kind, frame: WatchFrame): void => {
    if (frame.type === "ERROR") throw frame.error;
    if (frame.type === "BOOKMARK") return;
    const object = asJson(frame.object);
    if (kind === "Event" && frame.type !== "DELETED") events.observe(object);
    const { namespace, labels } = frame.object.metadata;
    const world = worlds.get(namespace ?? labels?.[runLabel] ?? "");
    if (world) take(world, { kind, type: frame.type, object });
  };
  const follow = async (kind: Kind, from: string): Promise<void> => {
    let resourceVersion = from;
    const { signal } = closing;
    while (!signal.aborted)
      for await (const frames of client.watch(kinds[kind], { resourceVersion, signal }))
        for (const frame of frames) {
          emit(kind, frame);
          if (frame.type === "BOOKMARK") ({ resourceVersion } = frame);
          else if (frame.type !== "ERROR") ({ resourceVersion } = frame.object.metadata);
        }
  };
  for (const kind of [...followed, "Event"] as const) {
    const { resourceVersion } = await client.list(kinds[kind], { limit: 1 });
    follow(kind, resourceVersion).catch((error: unknown) => {
      if (!closing.signal.aborted) failing.reject(error);
    });
  }
  return {
    world: (namespace) => {
      const known = worlds.get(namespace) ?? emptyWorld(namespace, events.toldUpTo);
      worlds.set(namespace, known);
      return known;
    },
    forget: (namespace) => void worlds.delete(namespace),
    failed: failing.promise,
    close: () => closing.abort(),
  };
}
