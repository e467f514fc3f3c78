import { raceAbort } from "@drover/timers";
import type { Log, Milliseconds } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { type QueueTime, withReplyTimeout, type WorkQueue } from "@drover/queue";
import type { EventContext } from "../mapping/wakes-of.ts";
import type { StreamPlan } from "./plan-streams.ts";

/**
 * While events arrive, a moment older than this is refreshed. A cached object is used only if its moment is recent
 * (object-9 in docs/work-queue.md).
 */
const refreshEvery: Milliseconds = 20_000;

/** Lower bounds for when a stream's versions were created, as moments of the queues that get cached objects. */
export interface FreshnessBounds {
  /** The bounds for events that go to this queue. */
  of(queue: string): Pick<EventContext, "listedAfter" | "madeAfter">;
  /** Must be awaited before the stream lists. `newest`: if true, the list returns the newest state. */
  beforeListing(newest: boolean): Promise<void>;
  /** Called when the stream has listed everything, at this version. */
  listed(version: string): void;
  /** Called when events arrive. Refreshes old moments in the background. */
  keepFresh(): void;
}

export interface FreshnessBoundsOptions {
  readonly plan: Pick<StreamPlan, "ref" | "namespace" | "subscribers">;
  readonly queueOf: (queue: string) => Pick<WorkQueue, "time">;
  /** True if a queue does not accept its wakes at present. It is not asked for a moment then. */
  readonly isBehind: (queue: string) => boolean;
  readonly client: Pick<KubeClient, "list">;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => Milliseconds;
}

/**
 * No event carries the time at which its version was created. But take a moment, and then read the newest version of
 * the collection: every newer version was created after that moment. A list returns that version, also if it is limited
 * to one object.
 */
export function freshnessBounds(options: FreshnessBoundsOptions): FreshnessBounds {
  const { plan, queueOf, isBehind, client, signal, log, now = () => performance.now() } = options;
  const { ref, namespace, subscribers } = plan;
  const copying = subscribers.filter(({ subscription }) => subscription.copies === true);
  const queues = [...new Set(copying.map(({ queue }) => queue))];
  let listing = new Map<string, QueueTime>();
  let known: { readonly version: string; readonly moments: ReadonlyMap<string, QueueTime> } | undefined;
  let askedAt = -Infinity;

  const queueTimesNow = async (): Promise<Map<string, QueueTime>> => {
    const asked = queues.filter((queue) => !isBehind(queue));
    const moments = await Promise.all(
      asked.map(async (queue) => [queue, await queueTimeOf(() => queueOf(queue).time(), signal)] as const),
    );
    return new Map(moments.flatMap(([queue, moment]) => (moment === undefined ? [] : [[queue, moment]])));
  };
  const refresh = async (): Promise<void> => {
    const moments = await queueTimesNow();
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
      listing = newest ? await queueTimesNow() : new Map<string, QueueTime>();
    },
    listed(version) {
      if (listing.size > 0) known = { version, moments: listing };
    },
    keepFresh() {
      if (queues.length === 0 || now() - askedAt < refreshEvery) return;
      askedAt = now();
      void refresh().catch((error: unknown) => {
        if (!signal.aborted)
          log.debug({ err: error, ref }, "Could not determine the age of events; runs read live");
      });
    },
  };
}

/** How long to wait for a queue's moment. A server that took over completes its recovery window in that time. */
const replyTimeout: Milliseconds = 2_000;

/** The moment, or undefined if the queue does not return it in time. Its runs read live then. */
const queueTimeOf = (ask: () => Promise<QueueTime>, signal: AbortSignal): Promise<QueueTime | undefined> =>
  withReplyTimeout(replyTimeout, raceAbort(Promise.try(ask), signal)).catch(() => undefined);
