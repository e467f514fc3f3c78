import { nameOf, type ResourceRef, selectorQuery, type Subscription } from "@drover/kube";
import { createHash } from "node:crypto";
import type { FileRef } from "./files.ts";
import type { Follow, Follower } from "./follows-of.ts";
import type { Audience } from "./stream-store.ts";

/** A stream to follow: one kind, in one namespace or in all, for all its subscribers. */
export interface StreamPlan extends Place {
  /** The name of the stream in Redis: see {@link streamOf}. */
  readonly stream: string;
  /** The selector that all subscribers share, so that the server need not send other objects. */
  readonly labelSelector: string | undefined;
  readonly listeners: readonly Listener[];
  readonly audience: Audience;
}

/** The kind and the namespace of a stream's objects. */
export interface Place {
  readonly ref: ResourceRef;
  /** Undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | undefined;
}

export interface Listener {
  readonly controller: string;
  /** The queue of the keys to wake. */
  readonly queue: string;
  readonly subscription: Subscription;
  /** The reverse indexes in which the affected objects are looked up. */
  readonly looksInto?: readonly FileRef[];
}

/**
 * The streams that followers need, shared where possible: one per kind for the followers of all namespaces, and one per
 * kind and namespace for the followers of named ones. So the API server is not asked for objects that no follower may
 * ask for.
 *
 * @param origins the first incarnation of each queue. A queue that has lost its data has another one, and so its
 * subscriptions are new ones, to which every object is emitted again. A controller is left out if its queue is missing
 * here.
 */
export function planStreams(
  followers: readonly Follower[],
  origins: ReadonlyMap<string, string>,
): readonly StreamPlan[] {
  const byStream = new Map<string, { place: Place; listeners: Map<string, Listener> }>();
  for (const follower of followers) {
    for (const { place, listener } of listenersOf(follower, origins)) {
      const stream = streamOf(place);
      const planned = byStream.get(stream) ?? { place, listeners: new Map<string, Listener>() };
      planned.listeners.set(listener.subscription.id, listener);
      byStream.set(stream, planned);
    }
  }
  return [...byStream].map(([stream, { place, listeners: byId }]) => {
    const listeners = [...byId.values()];
    const labelSelector = commonSelector(listeners);
    const audience = {
      scope: JSON.stringify(labelSelector ?? null),
      listeners: listeners.map(({ subscription: { id } }) => id).sort(),
      queues: [...new Set(listeners.map(({ queue }) => queue))].sort(),
    };
    return { stream, ...place, labelSelector, listeners, audience };
  });
}

/** The streams that followers need, also of controllers with an unknown queue. */
export const streamsOf = (followers: readonly Follower[]): ReadonlySet<string> =>
  new Set(followers.flatMap(({ follows }) => follows.flatMap(partsOf).map(streamOf)));

interface Part extends Place {
  readonly follow: Follow;
}

/** Splits a follow by streams: one part for each namespace that it names, or a single one. */
function partsOf(follow: Follow): readonly Part[] {
  const { ref, subscription } = follow;
  if (subscription.namespaces === undefined) return [{ ref, namespace: undefined, follow }];
  return [...new Set(subscription.namespaces)].map((namespace) => ({
    ref,
    namespace,
    follow: { ...follow, subscription: { ...subscription, namespaces: [namespace] } },
  }));
}

function listenersOf(follower: Follower, origins: Origins) {
  const { controller } = follower;
  return follower.follows.flatMap(partsOf).flatMap(({ follow, ...place }) => {
    const { subscription, looksInto: filing, queue = controller } = follow;
    if (!origins.has(controller) || !origins.has(queue)) return [];
    const listener: Listener = {
      controller,
      queue,
      subscription: { ...subscription, id: idOf(follower, follow, origins) },
      ...(filing && { looksInto: filesOf(follower, filing, origins) }),
    };
    return [{ place, listener }];
  });
}

type Origins = ReadonlyMap<string, string>;

/** The reverse indexes that a follower's filing fills: one on each stream with its objects. */
export const filesOf = (follower: Follower, filing: Follow, origins: Origins): readonly FileRef[] =>
  partsOf(filing).map((part) => ({ stream: streamOf(part), file: idOf(follower, part.follow, origins) }));

function idOf(follower: Follower, follow: Follow, origins: Origins): string {
  const { controller } = follower;
  const { subscription, looksInto, queue = controller } = follow;
  return digest([
    ...[controller, origins.get(controller), origins.get(queue), subscription],
    ...(looksInto ? [idOf(follower, looksInto, origins)] : []),
  ]);
}

/**
 * The name of a stream: JSON of group, version, plural, kind, scope and, if it has one, namespace. Two places have the
 * same name only if all of these are equal, whatever text a registration contains. No name is a prefix of another one.
 */
export const streamOf = ({ ref, namespace }: Place): string => {
  const { group, version, plural, kind, namespaced } = ref;
  const parts = [group, version, plural, kind, namespaced ? "Namespaced" : "Cluster"];
  return JSON.stringify(namespace === undefined ? parts : [...parts, namespace]);
};

/** A place as text for people: `deployments.apps/v1 in namespace web`. */
export const placeWords = ({ ref, namespace }: Place): string =>
  `${nameOf(ref)}/${ref.version}${namespace === undefined ? "" : ` in namespace ${namespace}`}`;

function commonSelector(listeners: readonly Listener[]): string | undefined {
  const [first, ...others] = listeners.map(
    ({ subscription: { selector } }) => selector && selectorQuery(selector),
  );
  return first !== "" && others.every((other) => other === first) ? first : undefined;
}

const digest = (of: unknown): string =>
  createHash("sha256").update(JSON.stringify(of)).digest("base64url").slice(0, 12);
