import type { Log, Milliseconds } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { type QueueMoment, raceAbort, within, type WorkQueue } from "@drover/queue";
import type { EventSource, StreamPlan } from "@drover/streams";

/** How old a moment may become while there are events: what was made since is believed of younger ones only. */
const refreshEvery: Milliseconds = 20_000;

/** What is known of when a stream's versions were made, by moments of the queues whose runs are brought copies. */
export interface ProvenMoments {
  /** Of events for that queue. */
  of(queue: string): Pick<EventSource, "listedAfter" | "madeAfter">;
  /** To be awaited before the stream lists; `newest` says that it will be told the newest state. */
  beforeListing(newest: boolean): Promise<void>;
  /** It has listed all, at this version. */
  listed(version: string): void;
  /** There are events: where what is known is old, asks anew, and nobody waits for it. */
  keepFresh(): void;
}

export interface ProvenMomentsOptions {
  readonly plan: Pick<StreamPlan, "ref" | "namespace" | "listeners">;
  readonly queueOf: (queue: string) => Pick<WorkQueue, "moment">;
  /** Whether a queue does not take its wakes now: it is not asked. */
  readonly isBehind: (queue: string) => boolean;
  readonly client: Pick<KubeClient, "list">;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Milliseconds of a clock that does not jump. */
  readonly now?: () => Milliseconds;
}

/**
 * No event says how late it comes. But what is newer than the newest version of all, asked for after a moment, was made
 * after it. A listing tells that version, and so does a list of one object.
 */
export function provenMoments(options: ProvenMomentsOptions): ProvenMoments {
  const { plan, queueOf, isBehind, client, signal, log, now = () => performance.now() } = options;
  const { ref, namespace, listeners } = plan;
  const copying = listeners.filter(({ subscription }) => subscription.copies === true);
  const queues = [...new Set(copying.map(({ queue }) => queue))];
  let listing = new Map<string, QueueMoment>();
  let known: { readonly version: string; readonly moments: ReadonlyMap<string, QueueMoment> } | undefined;
  let askedAt = -Infinity;

  const momentsNow = async (): Promise<Map<string, QueueMoment>> => {
    const asked = queues.filter((queue) => !isBehind(queue));
    const moments = await Promise.all(
      asked.map(async (queue) => [queue, await momentOf(() => queueOf(queue).moment(), signal)] as const),
    );
    return new Map(moments.flatMap(([queue, moment]) => (moment === undefined ? [] : [[queue, moment]])));
  };
  const refresh = async (): Promise<void> => {
    const moments = await momentsNow();
    const { resourceVersion: version } = await client.list(ref, {
      namespace,
      limit: 1,
      metadataOnly: true,
      signal,
    });
    known = { version, moments };
  };
  return {
    of(queue) {
      const moment = known?.moments.get(queue);
      return {
        listedAfter: listing.get(queue),
        madeAfter: known && moment && { version: known.version, moment },
      };
    },
    async beforeListing(newest) {
      askedAt = now();
      listing = newest ? await momentsNow() : new Map<string, QueueMoment>();
    },
    listed(version) {
      if (listing.size > 0) known = { version, moments: listing };
    },
    keepFresh() {
      if (queues.length === 0 || now() - askedAt < refreshEvery) return;
      askedAt = now();
      void refresh().catch((error: unknown) => {
        if (!signal.aborted)
          log.debug({ err: error, ref }, "It is not known how new events are; runs read live");
      });
    },
  };
}

/** How long a queue is waited for that does not tell its moment; a server that took over settles in that time. */
const patience: Milliseconds = 2_000;

/** The moment, or undefined where the queue does not tell it: then its runs read live. */
const momentOf = (ask: () => Promise<QueueMoment>, signal: AbortSignal): Promise<QueueMoment | undefined> =>
  within(patience, raceAbort(Promise.try(ask), signal)).catch(() => undefined);
