import type { Log, Milliseconds } from "@drover/controller";
import {
  isObjectEvent,
  type KubeClient,
  nameOf,
  type ObjectEvent,
  type Reflector,
  type ReflectorEvent,
  runReflector,
} from "@drover/kube";
import type { WorkQueue } from "@drover/queue";
import {
  type Files,
  filingsOf,
  type HeldStream,
  type Listener,
  type StreamPlan,
  wakesTogether,
} from "@drover/streams";
import { provenMoments } from "./proven-moments.ts";
import { deliverTo, type QueueDelivery, type QueueLag } from "./queue-delivery.ts";

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

export interface FollowOptions {
  readonly plan: StreamPlan;
  readonly held: HeldStream;
  readonly files: Files;
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
export function followStream(options: FollowOptions): FollowedStream {
  const { plan, held, files, queueOf, client, compareEvery, log } = options;
  const { ref, namespace, labelSelector, listeners } = plan;
  const place = { kind: nameOf(ref), ...(namespace !== undefined && { namespace }) };
  const byQueue = Map.groupBy(listeners, ({ queue }) => queue);
  const counts = { wakes: 0, events: 0, missed: 0 };
  const leave = new AbortController();

  const signal = AbortSignal.any([leave.signal, held.lost]);
  const deliveries = new Map(
    [...byQueue].map(([queue, theirs]) => [queue, deliveryTo(queue, theirs, { ...options, signal, counts })]),
  );
  const lags = (): readonly QueueLag[] => [...deliveries.values()].flatMap((each) => each.lag() ?? []);
  const isBehind = (queue: string): boolean => deliveries.get(queue)?.lag() !== undefined;
  const moments = provenMoments({ plan, queueOf, isBehind, client, signal: leave.signal, log });
  const tell = async (events: readonly ObjectEvent[], queue: string, theirs: readonly Listener[]) => {
    const source = { ref, files, ...moments.of(queue) };
    for await (const wakes of wakesTogether(events, theirs, source))
      await deliveries.get(queue)?.deliver(wakes);
  };
  const onEvents = async (events: readonly ReflectorEvent[]): Promise<void> => {
    const objects = events.filter(isObjectEvent);
    const filings = filingsOf(objects, listeners);
    if (filings.length > 0) await held.file(filings);
    await allEnded([...byQueue].map(([queue, theirs]) => tell(objects, queue, theirs)));
    counts.events += objects.length;
    counts.missed += logMissed(objects, log, place);
    const synced = events.find(({ type }) => type === "synced");
    if (synced) {
      moments.listed(synced.resourceVersion);
      log.info({ ...place, at: synced.resourceVersion }, "Listed; watching");
    } else if (objects.length > 0) moments.keepFresh();
  };

  const from = { position: held.position, toldToAll: held.toldToAll };
  if (from.toldToAll) log.info({ ...place, from: from.position }, "Resumed at the stored position; watching");
  const reflector = runReflector({
    client,
    ref,
    namespace,
    labelSelector,
    onEvents,
    compareEvery,
    log,
    beforeListing: (newest) => moments.beforeListing(newest),
    subscriptions: listeners.map(({ subscription }) => subscription),
    seen: held.seen,
    from,
    signal,
  });
  return {
    plan,
    reflector,
    counts,
    lags,
    async stop() {
      leave.abort();
      await reflector.done;
      await Promise.all([...deliveries.values()].map((each) => each.stopped()));
    },
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
  theirs: readonly Listener[],
  options: FollowOptions & Pick<FollowedStream, "counts"> & { readonly signal: AbortSignal },
): QueueDelivery {
  const { held, queueOf, log, signal, counts } = options;
  return deliverTo({
    queue,
    signal,
    log,
    workQueue: () => queueOf(queue),
    owed: held.owedTo(queue),
    allKeys: () => allKeysFor(theirs, options),
    onWoken(wakes) {
      counts.wakes += wakes.length;
      for (const { key, reason } of wakes) log.debug({ key, reason, queue }, "Woke");
    },
  });
}

/** Wakes for every object in the stream's index, without cached objects. */
async function* allKeysFor(theirs: readonly Listener[], { held, plan, files }: FollowOptions) {
  for await (const piece of held.seen.allBut(new Set())) {
    const events = piece.map(({ meant: means, ...object }): ObjectEvent => ({
      ...object,
      type: "listed",
      means,
      object: undefined,
      previous: undefined,
      missed: false,
    }));
    yield* wakesTogether(events, theirs, { ref: plan.ref, files });
  }
}
