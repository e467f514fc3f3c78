import { resourceNameOf, type ResourceRef, selectorQuery } from "@drover/kube";
import type { Subscription } from "../mapping/subscription.ts";
import { createHash } from "node:crypto";
import type { IndexRef } from "../store/reverse-indexes.ts";
import type { Follow, Follower } from "../mapping/follows-of.ts";
import type { SubscriberSet } from "../store/stream-store.ts";

/** A stream to follow: one kind, in one namespace or in all, for all its subscribers. */
export interface StreamPlan extends StreamScope {
  /** The name of the stream in Redis: see {@link streamOf}. */
  readonly stream: string;
  /** The selector that all subscribers share, so that the server need not send other objects. */
  readonly labelSelector: string | undefined;
  readonly subscribers: readonly Subscriber[];
  readonly subscriberSet: SubscriberSet;
}

/** The kind and the namespace of a stream's objects. */
export interface StreamScope {
  readonly ref: ResourceRef;
  /** Undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | undefined;
}

export interface Subscriber {
  readonly controller: string;
  /** The queue of the keys to wake. */
  readonly queue: string;
  readonly subscription: Subscription;
  /** The reverse indexes in which the affected objects are looked up. */
  readonly looksInto?: readonly IndexRef[];
}

/**
 * The streams that followers need, shared where possible: one per kind for the followers of all namespaces, and one per
 * kind and namespace for the followers of named ones. So the API server is not asked for objects that no follower may
 * ask for.
 *
 * @param firstIncarnations the first incarnation of each queue. A queue that has lost its data has another one, and so its
 * subscriptions are new ones, to which every object is emitted again. A controller is left out if its queue is missing
 * here.
 */
export function planStreams(
  followers: readonly Follower[],
  firstIncarnations: ReadonlyMap<string, string>,
): readonly StreamPlan[] {
  const byStream = new Map<string, { scope: StreamScope; subscribers: Map<string, Subscriber> }>();
  for (const follower of followers) {
    for (const { scope, subscriber } of subscribersOf(follower, firstIncarnations)) {
      const stream = streamOf(scope);
      const planned = byStream.get(stream) ?? { scope, subscribers: new Map<string, Subscriber>() };
      planned.subscribers.set(subscriber.subscription.id, subscriber);
      byStream.set(stream, planned);
    }
  }
  return [...byStream].map(([stream, { scope, subscribers: byId }]) => {
    const subscribers = [...byId.values()];
    const labelSelector = commonSelector(subscribers);
    const subscriberSet = {
      scope: JSON.stringify(labelSelector ?? null),
      listeners: subscribers.map(({ subscription: { id } }) => id).sort(),
      queues: [...new Set(subscribers.map(({ queue }) => queue))].sort(),
    };
    return { stream, ...scope, labelSelector, subscribers, subscriberSet };
  });
}

/** The streams that followers need, also of controllers with an unknown queue. */
export const streamsOf = (followers: readonly Follower[]): ReadonlySet<string> =>
  new Set(followers.flatMap(({ follows }) => follows.flatMap(partsOf).map(streamOf)));

interface Part extends StreamScope {
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

function subscribersOf(follower: Follower, firstIncarnations: FirstIncarnations) {
  const { controller } = follower;
  return follower.follows.flatMap(partsOf).flatMap(({ follow, ...scope }) => {
    const { subscription, looksInto, queue = controller } = follow;
    if (!firstIncarnations.has(controller) || !firstIncarnations.has(queue)) return [];
    const subscriber: Subscriber = {
      controller,
      queue,
      subscription: { ...subscription, id: idOf(follower, follow, firstIncarnations) },
      ...(looksInto && { looksInto: indexRefsOf(follower, looksInto, firstIncarnations) }),
    };
    return [{ scope, subscriber }];
  });
}

type FirstIncarnations = ReadonlyMap<string, string>;

/** The reverse indexes of a follow, whose entries are those of its objects: one on each stream with such objects. */
export const indexRefsOf = (
  follower: Follower,
  follow: Follow,
  firstIncarnations: FirstIncarnations,
): readonly IndexRef[] =>
  partsOf(follow).map((part) => ({
    stream: streamOf(part),
    index: idOf(follower, part.follow, firstIncarnations),
  }));

function idOf(follower: Follower, follow: Follow, firstIncarnations: FirstIncarnations): string {
  const { controller } = follower;
  const { subscription, looksInto, queue = controller } = follow;
  return digest([
    ...[controller, firstIncarnations.get(controller), firstIncarnations.get(queue), subscription],
    ...(looksInto ? [idOf(follower, looksInto, firstIncarnations)] : []),
  ]);
}

/**
 * The name of a stream: JSON of group, version, plural, kind, scope and, if it has one, namespace. Two scopes have the
 * same name only if all of these are equal, whatever text a registration contains. No name is a prefix of another one.
 */
export const streamOf = ({ ref, namespace }: StreamScope): string => {
  const { group, version, plural, kind, namespaced } = ref;
  const parts = [group, version, plural, kind, namespaced ? "Namespaced" : "Cluster"];
  return JSON.stringify(namespace === undefined ? parts : [...parts, namespace]);
};

/** A scope as text for people: `deployments.apps/v1 in namespace web`. */
export const describeScope = ({ ref, namespace }: StreamScope): string =>
  `${resourceNameOf(ref)}/${ref.version}${namespace === undefined ? "" : ` in namespace ${namespace}`}`;

function commonSelector(subscribers: readonly Subscriber[]): string | undefined {
  const [first, ...others] = subscribers.map(
    ({ subscription: { selector } }) => selector && selectorQuery(selector),
  );
  return first !== "" && others.every((other) => other === first) ? first : undefined;
}

const digest = (of: unknown): string =>
  createHash("sha256").update(JSON.stringify(of)).digest("base64url").slice(0, 12);
