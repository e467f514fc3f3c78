import { type ResourceRef, selectorQuery, type Subscription } from "@drover/kube";
import { createHash } from "node:crypto";
import type { FileRef } from "./files.ts";
import type { Follow, Follower } from "./follows-of.ts";
import type { Audience } from "./stream-store.ts";

/** What is to be followed of one kind, for all who follow it. */
export interface StreamPlan {
  /** `group/version/plural`; names the stream in Redis. */
  readonly stream: string;
  readonly ref: ResourceRef;
  /** What all listeners have in common, so that the server need not send the rest. */
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly listeners: readonly Listener[];
  readonly audience: Audience;
}

export interface Listener {
  readonly controller: string;
  /** Whose keys are woken. */
  readonly queue: string;
  readonly subscription: Subscription;
  /** Where whom it concerns is looked up. */
  readonly looksInto?: FileRef;
}

/**
 * The streams that followers need: one per kind, however many controllers follow it.
 *
 * @param origins of the controllers' queues: a queue that lost all it held is another listener, to whom everything is
 * told anew. A controller without one is left out until it is known.
 */
export function planStreams(
  followers: readonly Follower[],
  origins: ReadonlyMap<string, string>,
): readonly StreamPlan[] {
  const byStream = new Map<string, { ref: ResourceRef; listeners: Map<string, Listener> }>();
  for (const follower of followers) {
    for (const { ref, listener } of listenersOf(follower, origins)) {
      const planned = byStream.get(streamOf(ref)) ?? { ref, listeners: new Map<string, Listener>() };
      planned.listeners.set(listener.subscription.id, listener);
      byStream.set(streamOf(ref), planned);
    }
  }
  return [...byStream].map(([stream, { ref, listeners: byId }]) => {
    const listeners = [...byId.values()];
    const namespace = common(listeners, ({ namespaces = [] }) =>
      namespaces.length === 1 ? namespaces[0] : undefined,
    );
    const labelSelector = common(listeners, ({ selector }) => selector && selectorQuery(selector));
    const audience = {
      scope: [namespace ?? "*", labelSelector ?? "*"].join(" "),
      listeners: listeners.map(({ subscription: { id } }) => id).sort(),
    };
    return { stream, ref, namespace, labelSelector, listeners, audience };
  });
}

function listenersOf(follower: Follower, origins: Origins) {
  const { controller } = follower;
  return follower.follows.flatMap((follow) => {
    const { ref, subscription, looksInto: file, queue = controller } = follow;
    if (!origins.has(controller) || !origins.has(queue)) return [];
    const listener: Listener = {
      ...{ controller, queue, subscription: { ...subscription, id: idOf(follower, follow, origins) } },
      ...(file && { looksInto: fileOf(follower, file, origins) }),
    };
    return [{ ref, listener }];
  });
}

type Origins = ReadonlyMap<string, string>;

/** Where those are found whom a follower files. */
export const fileOf = (follower: Follower, follow: Follow, origins: Origins): FileRef => ({
  stream: streamOf(follow.ref),
  file: idOf(follower, follow, origins),
});

function idOf(follower: Follower, follow: Follow, origins: Origins): string {
  const { controller } = follower;
  const { subscription, looksInto, queue = controller } = follow;
  return digest([
    ...[controller, origins.get(controller), origins.get(queue), subscription],
    ...(looksInto ? [idOf(follower, looksInto, origins)] : []),
  ]);
}

export const streamOf = ({ group, version, plural }: ResourceRef): string =>
  group === "" ? `${version}/${plural}` : `${group}/${version}/${plural}`;

function common(
  listeners: readonly Listener[],
  read: (subscription: Subscription) => string | undefined,
): string | undefined {
  const [first, ...others] = listeners.map(({ subscription }) => read(subscription));
  return first !== "" && others.every((other) => other === first) ? first : undefined;
}

const digest = (of: unknown): string =>
  createHash("sha256").update(JSON.stringify(of)).digest("base64url").slice(0, 12);
