import { type Log, longestDuration, type Milliseconds } from "@drover/controller";
import type { Redis } from "ioredis";
import { bullmqBells } from "./bullmq-bells.ts";
import { openLedger, type LedgerTimes } from "./ledger.ts";
import { startRinger } from "./ringer.ts";
import type { WorkQueue } from "./work-queue.ts";
import { startWorker } from "./worker.ts";

export interface WorkQueueOptions {
  /** From `connectRedis`; stays open when the queue is closed: whoever opens closes. */
  readonly redis: Redis;
  /** The controller's name. */
  readonly controller: string;
  readonly log: Log;
  readonly times?: Partial<QueueTimes>;
}

/** How a queue keeps time. */
export interface QueueTimes extends LedgerTimes {
  /** A lease is renewed this often while its run lasts. */
  readonly renewal: Milliseconds;
}

/** Times that cannot work together. */
export class InvalidTimesError extends Error {
  override readonly name = "InvalidTimesError";
}

/** A dead worker's key is taken over one lease and one ringer's sleep after it died: within 7 s. */
const defaults: QueueTimes = { lease: 6_000, renewal: 2_000, firstBackoff: 500, longestBackoff: 300_000 };
/** Bells outstanding at most: enough to keep many workers busy, few enough that the ledger decides the order. */
const bellLimit = 256;
/** Wakes recorded by one script call: about a millisecond of the server's time. */
const wakesPerCall = 200;

/** The work queue of one controller, on Redis and BullMQ. Its ringer runs from now until it is closed. */
export function openWorkQueue({ redis, controller, log, times }: WorkQueueOptions): WorkQueue {
  const prefix = `{drover:${controller}}`;
  const all = checked({ ...defaults, ...times });
  const ledger = openLedger({ redis, prefix, bellLimit, ...all });
  const bells = bullmqBells({ redis, prefix, log });
  const ringer = startRinger({ ledger, bells, log });
  return {
    controller,
    async wake(wakes) {
      for (let i = 0; i < wakes.length; i += wakesPerCall) {
        await bells.add(await ledger.wake(wakes.slice(i, i + wakesPerCall)));
      }
    },
    work: (handler, options) => startWorker({ ledger, bells, ringer, log, ...all }, handler, options),
    stats: (within) => answered(ledger.count(), within),
    ping: (within) => answered(redis.ping(), within).then(() => undefined),
    async close() {
      await ringer.stop();
      await bells.close();
    },
  };
}

function checked(times: QueueTimes): QueueTimes {
  const { lease, renewal, firstBackoff, longestBackoff } = times;
  if (!Object.values(times).every((time) => time >= 1 && time <= longestDuration)) {
    throw new InvalidTimesError("A queue's times are between 1 ms and 24 days.");
  }
  if (lease < 2 * renewal) {
    throw new InvalidTimesError(
      `A lease of ${lease} ms that is renewed every ${renewal} ms ends when one renewal is late. ` +
        `Make the lease at least twice its renewal: ${2 * renewal} ms or more.`,
    );
  }
  if (longestBackoff < firstBackoff) {
    throw new InvalidTimesError(
      `The longest backoff (${longestBackoff} ms) is below the first (${firstBackoff} ms).`,
    );
  }
  return times;
}

/** What Redis answers, or an error when it does not in time: commands wait for as long as it is away. */
async function answered<T>(answer: Promise<T>, within: Milliseconds): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Redis did not answer within ${within} ms.`)), within);
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}
