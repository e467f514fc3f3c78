import { waitAtMost, isAborted, sleepUnlessAborted } from "@drover/timers";
import type { Log, Milliseconds } from "@drover/controller";
import type { Wake, WorkQueue } from "@drover/queue";
import type { OwedWakes } from "./owed-wakes.ts";
import { errorSummary } from "../error-summary.ts";

/** Delivers the wakes of one stream to one queue. A queue that does not accept them does not delay others. */
export interface QueueDelivery {
  /**
   * Resolves when the queue has the wakes, or when they are recorded as owed to it: within twice {@link
   * DeliveryTimes.replyTimeout}, unless the streams' own Redis is unavailable.
   */
  deliver(wakes: readonly Wake[]): Promise<void>;
  /** Set while the queue is behind. */
  lag(): QueueLag | undefined;
  /** Resolves when no delivery is in progress any more, once the signal has fired. */
  stopped(): Promise<void>;
}

/** A queue that does not accept its wakes. */
export interface QueueLag {
  readonly queue: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly why: string;
}

export interface DeliveryTimes {
  /** How long a queue may take to record wakes before it counts as behind. */
  readonly replyTimeout: Milliseconds;
  /** The longest pause between two attempts to deliver owed wakes. The first pause is a twentieth of it. */
  readonly longestBackoff: Milliseconds;
  /**
   * For this long after the queue has caught up, wakes are still recorded as owed and delivered from that record. So a
   * queue that keeps falling behind delays the others by `replyTimeout` once in that time.
   */
  readonly probation: Milliseconds;
}

export const usualTimes: DeliveryTimes = { replyTimeout: 1_000, longestBackoff: 5_000, probation: 60_000 };

export interface DeliveryOptions {
  readonly queue: string;
  /** Called for each delivery: it throws once the queue is closed. */
  readonly workQueue: () => Pick<WorkQueue, "wake" | "forceAll">;
  readonly owed: OwedWakes;
  /** Wakes for every object in the stream's index that affects the queue. */
  readonly allKeys: () => AsyncIterable<readonly Wake[]>;
  readonly onWoken: (wakes: readonly Wake[]) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly times?: DeliveryTimes;
}

/**
 * Wakes go to their queue directly until it refuses them or does not answer. From then on they are recorded as owed,
 * with the stream's data, and delivered from that record until the queue has caught up. The stream continues meanwhile.
 * The record is in the streams' Redis: it outlives the bridge, and the queue's tenant cannot write it.
 */
export function openDelivery(options: DeliveryOptions): QueueDelivery {
  const { queue, workQueue, owed, signal, log, onWoken, times = usualTimes } = options;
  const { replyTimeout, longestBackoff, probation } = times;
  const delivery = owedDelivery(options);
  let lag: QueueLag | undefined =
    owed.since === undefined ? undefined : { queue, since: owed.since, why: "It has not caught up yet." };
  let directFrom = -Infinity;
  /** True if wakes were recorded since the last check of the owed wakes. */
  let added = false;
  let isHandingOver = false;
  let handing = Promise.resolve();

  const fallBehind = (why: string): void => {
    if (lag === undefined)
      log.warn({ queue, why }, "A queue does not accept its wakes; other queues continue");
    lag = { queue, since: lag?.since ?? Date.now(), why };
  };
  const isAdded = (): boolean => added;
  const handOver = async (): Promise<void> => {
    let failures = 0;
    while (!isAborted(signal)) {
      try {
        added = false;
        const { keys, all } = await delivery.pay();
        if (keys > 0 || all || isAdded()) continue;
        if (lag) log.info({ queue }, "A queue has caught up");
        [lag, directFrom] = [undefined, performance.now() + probation];
        break;
      } catch (error) {
        if (isAborted(signal)) break;
        fallBehind(errorSummary(error));
        await sleepUnlessAborted(Math.min(longestBackoff, (longestBackoff / 20) * 2 ** failures++), signal);
      }
    }
    // In the same synchronous step as the last check, so no wakes can have been added in between.
    isHandingOver = false;
  };
  const startHandingOver = (): void => {
    if (isHandingOver) return;
    isHandingOver = true;
    handing = handOver();
  };
  if (lag !== undefined) startHandingOver();

  return {
    async deliver(wakes) {
      signal.throwIfAborted();
      if (lag === undefined && !isHandingOver && performance.now() >= directFrom) {
        const refusal = await attempt(() => workQueue().wake(wakes, { retry: false }), owed, replyTimeout);
        if (refusal === undefined) {
          onWoken(wakes);
          return;
        }
        fallBehind(refusal);
      }
      await owed.add(wakes);
      added = true;
      startHandingOver();
    },
    lag: () => lag,
    stopped: () => handing,
  };
}

/** Returns why a call was refused or that it took too long; undefined if it succeeded. */
async function attempt(
  call: () => Promise<void>,
  owed: Pick<OwedWakes, "ping">,
  replyTimeout: Milliseconds,
): Promise<string | undefined> {
  const late = `Redis has not answered for ${replyTimeout} ms.`;
  let refusal: string | undefined = late;
  const done = Promise.try(call).then(
    () => (refusal = undefined),
    (error: unknown) => (refusal = errorSummary(error)),
  );
  await waitAtMost(replyTimeout, done);
  if (refusal !== late) return refusal;
  // If the streams' Redis does not answer either, wait for it: no owed wakes could be recorded.
  await owed.ping();
  await waitAtMost(replyTimeout, done);
  return refusal;
}

/** Delivers the wakes that a queue is owed. */
function owedDelivery({ workQueue, owed, allKeys, onWoken, signal }: DeliveryOptions) {
  const wake = async (wakes: readonly Wake[]): Promise<void> => {
    if (wakes.length === 0) return;
    await workQueue().wake(wakes, { retry: false, signal });
    onWoken(wakes);
  };
  return {
    /** Returns what is still owed, including wakes that were recorded meanwhile. */
    async pay() {
      if ((await owed.remaining()).all) {
        await owed.markAll("begin");
        for await (const wakes of allKeys()) await wake(wakes);
        // Objects deleted meanwhile are no longer in the stream's index, but the queue still has their keys.
        await workQueue().forceAll({ retry: false, signal });
        await owed.markAll("end");
      }
      for await (const piece of owed.batches()) {
        await wake(piece.wakes);
        await owed.remove(piece);
      }
      return owed.remaining();
    },
  };
}
