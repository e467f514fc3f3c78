import type { Log, Milliseconds } from "@drover/controller";
import {
  isObjectEvent,
  type KubeClient,
  resourceNameOf,
  type ObjectEvent,
  type Reflector,
  type ReflectorOptions,
  type ReflectorEvent,
  runReflector,
} from "@drover/kube";
import { mappingResultsOf, needsFullObject, isRelevantChange } from "../mapping/subscription.ts";
import type { WorkQueue } from "@drover/queue";
import type { ReverseIndexes } from "../store/reverse-indexes.ts";
import type { HeldStream, IndexUpdate } from "../store/stream-store.ts";
import type { Subscriber, StreamPlan } from "./plan-streams.ts";
import { mergedWakes } from "../mapping/wakes-of.ts";
import { freshnessBounds } from "./freshness-bounds.ts";
import { openDelivery, type QueueDelivery, type QueueLag } from "../queues/queue-delivery.ts";
import { isIndexMapping } from "../mapping/mapping.ts";

/**
 * How long a stream collects objects that are created in a burst. Most of them are children that a run has just
 * created, and each write to Redis waits for its disk.
 */
const gatherCreated: Milliseconds = 50;

/** A stream that this bridge holds and follows. */
export interface FollowedStream {
  readonly plan: StreamPlan;
  readonly reflector: Reflector;
  /** Wakes sent, events emitted, and events that the watch missed and a list found; for metrics. */
  readonly counts: { wakes: number; events: number; missed: number };
  /** The queues that do not accept the stream's wakes. The stream continues for all others. */
  readonly lags: () => readonly QueueLag[];
  /** Stops following. Resolves after the events in progress have been delivered. */
  stop(): Promise<void>;
}

export interface FollowStreamOptions {
  readonly plan: StreamPlan;
  readonly held: HeldStream;
  readonly indexes: ReverseIndexes;
  readonly queueOf: (controller: string) => WorkQueue;
  readonly client: KubeClient;
  readonly compareEvery: Milliseconds;
  readonly log: Log;
}

/**
 * Watches a kind and wakes the keys that its changes affect. For each batch of events it writes, in this order: the
 * reverse index, the wakes (into their queues, or recorded as owed to them), and the seen index. Only then are the next
 * events read. So while the streams' Redis is unavailable nothing is read, and nothing is lost. A queue that accepts no
 * wakes does not delay the others (`queue-delivery.ts`).
 */
export function followStream(options: FollowStreamOptions): FollowedStream {
  const { plan, held, indexes, queueOf, client, compareEvery, log } = options;
  const { ref, namespace, labelSelector, subscribers } = plan;
  const place = { kind: resourceNameOf(ref), ...(namespace !== undefined && { namespace }) };
  const byQueue = Map.groupBy(subscribers, ({ queue }) => queue);
  const counts = { wakes: 0, events: 0, missed: 0 };
  const stopping = new AbortController();

  const signal = AbortSignal.any([stopping.signal, held.lost]);
  const deliveries = new Map(
    [...byQueue].map(([queue, own]) => [queue, deliveryTo(queue, own, { ...options, signal, counts })]),
  );
  const lags = (): readonly QueueLag[] => [...deliveries.values()].flatMap((each) => each.lag() ?? []);
  const isBehind = (queue: string): boolean => deliveries.get(queue)?.lag() !== undefined;
  const bounds = freshnessBounds({ plan, queueOf, isBehind, client, signal: stopping.signal, log });
  const wakeQueue = async (events: readonly ObjectEvent[], queue: string, own: readonly Subscriber[]) => {
    const source = { ref, labelSelector, indexes, ...bounds.of(queue) };
    for await (const wakes of mergedWakes(events, own, source)) await deliveries.get(queue)?.deliver(wakes);
  };
  const onEvents = async (events: readonly ReflectorEvent[]): Promise<void> => {
    const objects = events.filter(isObjectEvent);
    const updates = indexUpdatesOf(objects, subscribers);
    if (updates.length > 0) await held.updateIndexes(updates);
    await allEnded([...byQueue].map(([queue, own]) => wakeQueue(objects, queue, own)));
    counts.events += objects.length;
    counts.missed += logMissed(objects, log, place);
    const synced = events.find(({ type }) => type === "synced");
    if (synced) {
      bounds.listed(synced.resourceVersion);
      log.info({ ...place, at: synced.resourceVersion }, "Listed; watching");
    } else if (objects.length > 0) bounds.keepFresh();
  };

  const { position, emittedToAll } = held;
  if (emittedToAll) log.info({ ...place, from: position }, "Resumed at the stored position; watching");
  const reflector = runReflector({
    client,
    ref,
    namespace,
    labelSelector,
    onEvents,
    compareEvery,
    log,
    beforeListing: (newest) => bounds.beforeListing(newest),
    ...mappingFor(subscribers),
    seen: held.seen,
    from: { position, emittedToAll },
    signal,
  });
  return {
    plan,
    reflector,
    counts,
    lags,
    async stop() {
      stopping.abort();
      await reflector.done;
      await Promise.all([...deliveries.values()].map((each) => each.stopped()));
    },
  };
}

/** The reflector's options that follow from the subscriptions. */
function mappingFor(
  subscribers: readonly Subscriber[],
): Pick<ReflectorOptions, "map" | "metadataOnly" | "gatherCreated"> {
  const subscriptions = subscribers.map(({ subscription }) => subscription);
  return {
    map: (object) => mappingResultsOf(object, subscriptions),
    metadataOnly: !subscriptions.some(needsFullObject),
    gatherCreated: subscriptions.some(({ map }) => map.by === "self") ? 0 : gatherCreated,
  };
}

/** Logs the events that a list found and the watch missed. @returns how many there are. */
function logMissed(events: readonly ObjectEvent[], log: Log, place: object): number {
  const missed = events.filter((event) => event.missed);
  for (const { key, type } of missed)
    log.warn({ ...place, key, type }, "A list found a change that the watch missed");
  return missed.length;
}

/** Waits for all, so that no controller's wakes wait for those of another; throws the first error. */
async function allEnded(each: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(each);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

function deliveryTo(
  queue: string,
  subscribers: readonly Subscriber[],
  options: FollowStreamOptions & Pick<FollowedStream, "counts"> & { readonly signal: AbortSignal },
): QueueDelivery {
  const { held, queueOf, log, signal, counts } = options;
  return openDelivery({
    queue,
    signal,
    log,
    workQueue: () => queueOf(queue),
    owed: held.owedTo(queue),
    allKeys: () => wakesForAllKeys(subscribers, options),
    onWoken(wakes) {
      counts.wakes += wakes.length;
      for (const { key, reason } of wakes) log.debug({ key, reason, queue }, "Woke");
    },
  });
}

/** Wakes for every object in the stream's index, without cached objects. */
async function* wakesForAllKeys(
  subscribers: readonly Subscriber[],
  { held, plan, indexes }: FollowStreamOptions,
) {
  for await (const piece of held.seen.allBut(new Set())) {
    const events = piece.map(({ matched, ...object }): ObjectEvent => ({
      ...object,
      type: "listed",
      matched,
      object: undefined,
      previous: undefined,
      missed: false,
    }));
    yield* mergedWakes(events, subscribers, { ref: plan.ref, indexes });
  }
}

/** The index entries of the objects of these events, if they have changed. */
export function indexUpdatesOf(
  events: readonly ObjectEvent[],
  subscribers: readonly Subscriber[],
): readonly IndexUpdate[] {
  const indexIds = subscribers.flatMap(({ subscription: { id, map } }) => (isIndexMapping(map) ? [id] : []));
  const isChanged = ({ type, matched, previous }: ObjectEvent): boolean =>
    type === "deleted" || indexIds.some((id) => isRelevantChange(previous?.matched[id], matched[id]));
  if (indexIds.length === 0) return [];
  const changed = new Set(events.filter(isChanged).map(({ key }) => key));
  const last = new Map(events.map((event) => [event.key, event.matched]));
  return [...changed].map((key) => ({
    key,
    entries: Object.fromEntries(indexIds.map((id) => [id, last.get(key)?.[id]?.entries ?? []])),
  }));
}
