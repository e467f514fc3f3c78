import { nameOf, type ResourceRef, selectorQuery, type Subscription } from "@drover/kube";
import { createHash } from "node:crypto";
import type { FileRef } from "./files.ts";
import type { Follow, Follower } from "./follows-of.ts";
import type { Audience } from "./stream-store.ts";

/** What is to be followed of one kind, for all who follow it in the same namespace, or in all. */
export interface StreamPlan extends Place {
  /** Names the stream in Redis: see {@link streamOf}. */
  readonly stream: string;
  /** What all listeners have in common, so that the server need not send the rest. */
  readonly labelSelector: string | undefined;
  readonly listeners: readonly Listener[];
  readonly audience: Audience;
}

/** Where a stream's objects are. */
export interface Place {
  readonly ref: ResourceRef;
  /** Undefined: all, or none for a cluster-scoped kind. */
  readonly namespace: string | undefined;
}

export interface Listener {
  readonly controller: string;
  /** Whose keys are woken. */
  readonly queue: string;
  readonly subscription: Subscription;
  /** Where the objects that it concerns are looked up. */
  readonly looksInto?: readonly FileRef[];
}

/**
 * The streams that followers need, however many share one: one per kind for those who follow it in all namespaces, and one
 * per kind and namespace for those who name namespaces. So no more is asked of the API server than somebody may see who
 * asks for it.
 *
 * @param origins of the controllers' queues: a queue that lost all it held is another listener, to whom everything is
 * told anew. A controller without one is left out until it is known.
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

/** The streams that followers need, whatever is known of their queues. */
export const streamsOf = (followers: readonly Follower[]): ReadonlySet<string> =>
  new Set(followers.flatMap(({ follows }) => follows.flatMap(partsOf).map(streamOf)));

interface Part extends Place {
  readonly follow: Follow;
}

/** A follow as streams have it: one part for each namespace that it names, else a single one. */
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

/** Where the objects are found that a follower files: beside each stream that tells of them. */
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
 * What a stream is known by: JSON of group, version, plural, kind, scope and, if it has one, namespace. Two places have the
 * same only where all of these are equal, whatever a registration has written in them; and none begins with another one.
 */
export const streamOf = ({ ref, namespace }: Place): string => {
  const { group, version, plural, kind, namespaced } = ref;
  const parts = [group, version, plural, kind, namespaced ? "Namespaced" : "Cluster"];
  return JSON.stringify(namespace === undefined ? parts : [...parts, namespace]);
};

/** A place, for people: `deployments.apps/v1 in namespace web`. */
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
