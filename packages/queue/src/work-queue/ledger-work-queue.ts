import { type Log, maxDuration, type Milliseconds, type ObjectKey, type Rate } from "@drover/controller";
import { tryAddJobs, type JobQueue } from "../worker/job-queue.ts";
import { randomUUID } from "node:crypto";
import { sleep, processTimers, type Timers, raceAbort } from "@drover/timers";
import { keepLeases } from "../worker/lease-keeper.ts";
import type { Ledger, LedgerDurations } from "../ledger/ledger.ts";
import { maxDeltaBytes } from "../cache/cache-bounds.ts";
import type { Scrubber } from "../ledger/scrubber.ts";
import { startDispatcher } from "../worker/dispatcher.ts";
import type {
  Backoff,
  QueueTime,
  Wake,
  WakeClass,
  WakeOptions,
  WorkOptions,
  WorkQueue,
} from "./work-queue.ts";
import { withReplyTimeout } from "../redis/with-reply-timeout.ts";
import { startWorker } from "../worker/worker.ts";

/** Durations that a queue applies. */
export interface QueueDurations extends LedgerDurations {
  /** Interval at which leases are renewed during their runs. */
  readonly renewal: Milliseconds;
}

/** A time, limit or number is out of its range, or contradicts another one. */
export class InvalidQueueOptionsError extends Error {
  override readonly name = "InvalidQueueOptionsError";
}

/** A dead worker's key is taken over within 7 s: one lease, and one sleep of the dispatcher. */
const defaults: QueueDurations = { lease: 6_000, renewal: 400, recoveryWindow: 1_200 };
/** Maximum wakes per call: about 1 ms of the server's time. */
const wakesPerCall = 200;
/** Maximum bytes of cached objects and deltas per call, unless one wake has more: scripts accept 1 MiB of JSON. */
const bytesPerCall = 786_432;
/** Wait before a wake that Redis refused (no memory, no permission) is sent again. */
const wakeRetryPause: Milliseconds = 200;

export interface LedgerWorkQueueParts {
  readonly controller: string;
  /**
   * Opens the ledger with the queue's times. It must call `reportIncarnation` with the incarnation of the first answer,
   * and with every new one.
   */
  readonly openLedger: (
    times: LedgerDurations,
    reportIncarnation: (incarnation: string) => void,
  ) => {
    readonly ledger: Ledger;
    readonly scrubber?: Scrubber;
    /** The keys of all entries of the ledger, in batches. */
    readonly keys: () => AsyncIterable<readonly ObjectKey[]>;
  };
  readonly jobQueue: JobQueue;
  readonly log: Log;
  readonly times: Partial<QueueDurations>;
  /** Called when acknowledged wakes may be lost, so that every object must be reconciled again. */
  readonly onIncarnation: ((incarnation: string) => void) | undefined;
  readonly ping: () => Promise<unknown>;
  /** If true, the queue has a dispatcher, which a worker needs. Default: true. */
  readonly hasDispatcher?: boolean;
  /** Default: the process clock. */
  readonly timers?: Timers;
  /** Returns unique names for workers, slots and runs. Default: random UUIDs. */
  readonly newId?: () => string;
  /** True if other data in this Redis may be on another server, and fail over independently of this queue. */
  readonly onCluster?: boolean;
}

/** Opens a work queue on a ledger and a job queue. Its dispatcher, if any, runs until the queue is closed. */
export function openLedgerWorkQueue(parts: LedgerWorkQueueParts): WorkQueue {
  const { controller, jobQueue, log, timers = processTimers, newId = randomUUID } = parts;
  const times = checkedDurations({ ...defaults, ...parts.times });
  let known: string | undefined;
  const { ledger, scrubber, keys } = parts.openLedger(times, (incarnation) => {
    const first = known === undefined;
    known = incarnation;
    if (first) return;
    log.warn({ incarnation }, "Redis was restarted, replaced or emptied: recorded wakes may be lost");
    parts.onIncarnation?.(incarnation);
  });
  const common = { ledger, jobQueue, timers, newId, log };
  const leases = keepLeases({ ledger, ...times, timers, log });
  const longestSleep = Math.min(1_000, (times.recoveryWindow * 2) / 3);
  const dispatcher =
    parts.hasDispatcher === false
      ? undefined
      : startDispatcher({
          ...common,
          longestSleep,
          lease: times.lease,
          ...(scrubber && { upkeep: () => scrubber.step() }),
        });
  const closed = new AbortController();
  return {
    controller,
    ...wakeMethods({ ledger, keys, jobQueue, closed: closed.signal, timers, log }),
    notRunSince: (keys, since) => ledger.notRunSince(keys, since),
    pause: async (scope, by) => jobQueue.add(await ledger.pause(scope, by)),
    resume: async (scope) => jobQueue.add(await ledger.resume(scope)),
    work(handler, options) {
      if (dispatcher === undefined)
        throw new Error(
          `The queue of ${controller} was opened with upkeep "none": no worker can run its keys.`,
        );
      return startWorker({ ...common, dispatcher, leases, ...times }, handler, checkedWork(options));
    },
    stats: (span) => withReplyTimeout(span, ledger.count()),
    list: (state, { after, limit }) => ledger.list(state, limit, after),
    inspect: (key) => ledger.inspect(key),
    async firstIncarnation() {
      const first = await ledger.firstIncarnation();
      return parts.onCluster === true ? (known ?? first) : first;
    },
    time: () => timeAfterRecovery(ledger, closed.signal, timers),
    ping: (span) => withReplyTimeout(span, parts.ping()).then(() => undefined),
    async close() {
      closed.abort(new Error(`The queue of ${controller} was closed before Redis recorded a wake.`));
      leases.stop();
      scrubber?.stop();
      await dispatcher?.stop();
      await jobQueue.close();
    },
  };
}

/** Upper bound of the size as JSON: an escaped character takes six bytes. */
const bytesOf = ({ cachedObject = "", delta = "" }: Wake): number => 6 * (cachedObject.length + delta.length);

/** Removes the text of a delta that is too long to be kept: an empty delta has the same effect. */
const withoutLongDelta = (wake: Wake): Wake =>
  wake.delta === undefined || Buffer.byteLength(wake.delta) <= maxDeltaBytes ? wake : { ...wake, delta: "" };

interface WakeParts {
  readonly ledger: Ledger;
  readonly keys: () => AsyncIterable<readonly ObjectKey[]>;
  readonly jobQueue: JobQueue;
  readonly closed: AbortSignal;
  readonly timers: Timers;
  readonly log: Log;
}

/** Records wakes, and adds the jobs that the ledger returns. */
function wakeMethods(parts: WakeParts): Pick<WorkQueue, "wake" | "force" | "forceAll"> {
  const { ledger, keys, jobQueue, log } = parts;
  const record = async (wakes: readonly Wake[], force: boolean, options: WakeOptions = {}): Promise<void> => {
    const limits = { maxItems: wakesPerCall, size: bytesPerCall, sizeOf: bytesOf };
    for (const batch of splitIntoBatches(wakes.map(withoutLongDelta), limits)) {
      const jobs = await retryUntilRecorded(() => ledger.wake(batch, force), options, parts);
      await tryAddJobs(jobQueue, jobs, log);
    }
  };
  return {
    wake: (wakes, options) => record(wakes, false, options),
    force: (all, of = "change") =>
      record(
        all.map((key) => forced(key, of)),
        true,
      ),
    async forceAll(options) {
      for await (const batch of keys())
        await record(
          // The change that ended a pause may be among the lost ones.
          batch.map((key) => ({ ...forced(key, "listing"), paused: false })),
          true,
          options,
        );
    },
  };
}

const forced = (key: ObjectKey, of: WakeClass): Wake => ({
  key,
  kind: "force",
  resourceVersion: "0",
  reason: "Forced",
  class: of,
});

/**
 * Sends wakes until Redis accepts them, the queue is closed, or the caller's signal fires.
 * @throws the first refusal if `retry` is false; the reason, if the queue was closed or the signal has fired.
 */
async function retryUntilRecorded<T>(
  call: () => Promise<T>,
  { retry = true, signal }: WakeOptions,
  { closed, timers, log }: WakeParts,
): Promise<T> {
  const ended = signal === undefined ? closed : AbortSignal.any([closed, signal]);
  for (let refused = 0; ; refused++) {
    ended.throwIfAborted();
    try {
      return await raceAbort(call(), ended);
    } catch (error) {
      ended.throwIfAborted();
      if (!retry) throw error;
      if (refused === 0)
        log.warn({ err: error }, "Redis did not record a wake; sending it again until it does");
      await sleep(timers, wakeRetryPause, "sending a wake again");
    }
  }
}

async function timeAfterRecovery(ledger: Ledger, signal: AbortSignal, timers: Timers): Promise<QueueTime> {
  for (;;) {
    const { recoveryLeft, ...time } = await ledger.time();
    if (recoveryLeft === 0) return time;
    await sleep(timers, recoveryLeft, "the recovery window", signal);
  }
}

function checkedDurations(times: QueueDurations): QueueDurations {
  const { lease, renewal, recoveryWindow } = times;
  if (!Object.values(times).every(isTime)) {
    throw new InvalidQueueOptionsError("A queue's times are between 1 ms and 24 days.");
  }
  if (lease < 2 * renewal) {
    throw new InvalidQueueOptionsError(
      `A lease of ${lease} ms that is renewed every ${renewal} ms ends when one renewal is late. ` +
        `Make the lease at least twice its renewal: ${2 * renewal} ms or more.`,
    );
  }
  if (recoveryWindow < 2 * renewal) {
    throw new InvalidQueueOptionsError(
      `A run must have announced itself within ${recoveryWindow} ms on a new server: renew at least every ${recoveryWindow / 2} ms, ` +
        `not every ${renewal}.`,
    );
  }
  return times;
}

function checkedWork(options: WorkOptions): WorkOptions {
  const { concurrency, timeout, version = 0, backoff = {}, limits = {} } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new InvalidQueueOptionsError(
      `A worker runs between 1 and 10,000 keys at once, not ${concurrency}.`,
    );
  }
  if (!isTime(timeout))
    throw new InvalidQueueOptionsError(`A run's timeout is between 1 ms and 24 days, not ${timeout}.`);
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new InvalidQueueOptionsError(`A function's version is a whole number from 0 on, not ${version}.`);
  }
  checkBackoff(backoff);
  for (const rate of [limits.runs, ...Object.values(limits.accounts ?? {})]) if (rate) checkRate(rate);
  return options;
}

function checkBackoff({ first = 1, longest = maxDuration, attempts = 1 }: Partial<Backoff>): void {
  if (!isTime(first) || !isTime(longest)) {
    throw new InvalidQueueOptionsError(`Backoff is between 1 ms and 24 days, not ${first} to ${longest}.`);
  }
  if (longest < first) {
    throw new InvalidQueueOptionsError(
      `The longest backoff (${longest} ms) is below the first (${first} ms).`,
    );
  }
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new InvalidQueueOptionsError(`Attempts are a whole number from 1 on, not ${attempts}.`);
  }
}

function checkRate({ perSecond, burst }: Rate): void {
  if (!(perSecond >= 0.001 && perSecond <= 1e6) || !Number.isInteger(burst) || burst < 1 || burst > 1e6) {
    throw new InvalidQueueOptionsError(
      `A limit is 0.001 to 1,000,000 runs a second with a burst of 1 to 1,000,000, not ${perSecond} with ${burst}.`,
    );
  }
}

const isTime = (time: number): boolean => time >= 1 && time <= maxDuration;

/**
 * Splits a list, in its order, into batches of at most `maxItems` elements and `size` in all. An element that is larger
 * than `size` is alone in its batch.
 */
export function splitIntoBatches<Element>(
  list: readonly Element[],
  { maxItems, size, sizeOf }: { maxItems: number; size: number; sizeOf: (element: Element) => number },
): readonly (readonly Element[])[] {
  const found: Element[][] = [];
  let room = 0;
  for (const element of list) {
    const needs = sizeOf(element);
    const last = found.at(-1);
    if (last && last.length < maxItems && needs <= room) {
      last.push(element);
      room -= needs;
    } else {
      found.push([element]);
      room = size - needs;
    }
  }
  return found;
}
