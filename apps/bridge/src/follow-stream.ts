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
import type { QueueMoment, WorkQueue } from "@drover/queue";
import { type Files, filingsOf, type HeldStream, type StreamPlan, wakesTogether } from "@drover/streams";

/** A stream that this bridge holds, and follows. */
export interface FollowedStream {
  readonly plan: StreamPlan;
  readonly reflector: Reflector;
  /** Wakes told, and events that a watch should have told and a listing did; for metrics. */
  readonly counts: { wakes: number; events: number; missed: number };
  /** Stops following; what was being told is told to its end. */
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
 * Watch a kind and wake the keys that its changes concern. The next events are read when what these say is filed, their
 * wakes are in Redis, and then the index: while Redis is away nothing is read, and nothing is forgotten.
 */
export function followStream({
  plan,
  held,
  files,
  queueOf,
  client,
  compareEvery,
  log,
}: FollowOptions): FollowedStream {
  const { ref, namespace, labelSelector, listeners } = plan;
  const kind = nameOf(ref);
  const byQueue = Map.groupBy(listeners, ({ queue }) => queue);
  const counts = { wakes: 0, events: 0, missed: 0 };
  const leave = new AbortController();

  const { listedAfter, beforeListing } = listings(byQueue, queueOf);
  const tell = async (events: readonly ObjectEvent[]): Promise<void> => {
    for (const [queue, theirs] of byQueue) {
      const source = { ref, files, listedAfter: listedAfter.get(queue) };
      for await (const wakes of wakesTogether(events, theirs, source)) {
        await queueOf(queue).wake(wakes);
        counts.wakes += wakes.length;
        for (const { key, reason } of wakes) log.debug({ key, reason, queue }, "Woke");
      }
    }
  };
  const onEvents = async (events: readonly ReflectorEvent[]): Promise<void> => {
    const objects = events.filter(isObjectEvent);
    const filings = filingsOf(objects, listeners);
    if (filings.length > 0) await held.file(filings);
    await tell(objects);
    counts.events += objects.length;
    const missed = objects.filter((event) => event.missed);
    counts.missed += missed.length;
    for (const { key, type } of missed)
      log.warn({ kind, key, type }, "A listing found what no watch had told");
    const synced = events.find(({ type }) => type === "synced");
    if (synced) log.info({ kind, at: synced.resourceVersion }, "Listed; watching");
  };

  if (held.toldToAll) log.info({ kind, from: held.position }, "Taken up where it was left; watching");
  const reflector = runReflector({
    ...{ client, ref, namespace, labelSelector, onEvents, beforeListing, compareEvery, log },
    subscriptions: listeners.map(({ subscription }) => subscription),
    seen: held.seen,
    from: { position: held.position, toldToAll: held.toldToAll },
    signal: AbortSignal.any([leave.signal, held.lost]),
  });
  return {
    plan,
    reflector,
    counts,
    async stop() {
      leave.abort();
      await reflector.done;
    },
  };
}

/** When the listing that is told of was asked for, of the queues whose listeners ask for copies. */
function listings(
  byQueue: ReadonlyMap<string, StreamPlan["listeners"]>,
  queueOf: FollowOptions["queueOf"],
): {
  readonly listedAfter: ReadonlyMap<string, QueueMoment>;
  readonly beforeListing: (newest: boolean) => Promise<void>;
} {
  const listedAfter = new Map<string, QueueMoment>();
  const wanted = [...byQueue].filter(([, listeners]) =>
    listeners.some(({ subscription }) => subscription.copies === true),
  );
  return {
    listedAfter,
    async beforeListing(newest) {
      listedAfter.clear();
      if (newest) for (const [queue] of wanted) listedAfter.set(queue, await queueOf(queue).moment());
    },
  };
}
