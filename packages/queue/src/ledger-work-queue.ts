import { type Log, longestDuration, type Milliseconds, type ObjectKey, type Rate } from "@drover/controller";
import { addAtBest, type Bells } from "./bells.ts";
import { randomUUID } from "node:crypto";
import { pause, processTimers, type Timers } from "@drover/timers";
import { keepLeases } from "./lease-keeper.ts";
import { type Ledger, type LedgerTimes, newsKept } from "./ledger.ts";
import type { Patrol } from "./patrol.ts";
import { pieces } from "./pieces.ts";
import { raceAbort } from "./race-abort.ts";
import { startRinger } from "./ringer.ts";
import type {
  Backoff,
  QueueMoment,
  Wake,
  WakeClass,
  WakeOptions,
  WorkOptions,
  WorkQueue,
} from "./work-queue.ts";
import { within } from "./within.ts";
import { startWorker } from "./worker.ts";

/** Durations that a queue applies. */
export interface QueueTimes extends LedgerTimes {
  /** Interval at which leases are renewed during their runs. */
  readonly renewal: Milliseconds;
}

/** A time, limit or number is out of its range, or contradicts another one. */
export class InvalidTimesError extends Error {
  override readonly name = "InvalidTimesError";
}

/** A dead worker's key is taken over within 7 s: one lease, and one sleep of the dispatcher. */
const defaults: QueueTimes = { lease: 6_000, renewal: 400, settling: 1_200 };
/** Maximum wakes per call: about 1 ms of the server's time. */
const wakesPerCall = 200;
/** Maximum bytes of cached objects and deltas per call, unless one wake has more: scripts accept 1 MiB of JSON. */
const bytesPerCall = 786_432;
/** Wait before a wake that Redis refused (no memory, no permission) is sent again. */
const wakeAgain: Milliseconds = 200;

export interface LedgerWorkQueueParts {
  readonly controller: string;
  /**
   * Opens the ledger with the queue's times. It must call `onEra` with the era of the first answer, and with every new
   * one.
   */
  readonly openLedger: (
    times: LedgerTimes,
    onEra: (era: string) => void,
  ) => {
    readonly ledger: Ledger;
    readonly patrol?: Patrol;
    /** The keys of all entries of the ledger, in batches. */
    readonly keys: () => AsyncIterable<readonly ObjectKey[]>;
  };
  readonly bells: Bells;
  readonly log: Log;
  readonly times: Partial<QueueTimes>;
  /** Called when acknowledged wakes may be lost, so that every object must be reconciled again. */
  readonly onIncarnation: ((era: string) => void) | undefined;
  readonly ping: () => Promise<unknown>;
  /** If true, the queue has a dispatcher, which a worker needs. Default: true. */
  readonly rings?: boolean;
  /** Default: the process clock. */
  readonly timers?: Timers;
  /** Returns unique names for workers, slots and runs. Default: random UUIDs. */
  readonly newId?: () => string;
  /** True if other data in this Redis may be on another server, and fail over independently of this queue. */
  readonly onCluster?: boolean;
}

/** Opens a work queue on a ledger and a job queue. Its dispatcher, if any, runs until the queue is closed. */
export function openLedgerWorkQueue(parts: LedgerWorkQueueParts): WorkQueue {
  const { controller, bells, log, timers = processTimers, newId = randomUUID } = parts;
  const times = checkedTimes({ ...defaults, ...parts.times });
  let known: string | undefined;
  const { ledger, patrol, keys } = parts.openLedger(times, (era) => {
    const first = known === undefined;
    known = era;
    if (first) return;
    log.warn({ era }, "Redis was restarted, replaced or emptied: recorded wakes may be lost");
    parts.onIncarnation?.(era);
  });
  const leases = keepLeases({ ledger, ...times, timers, log });
  const longestSleep = Math.min(1_000, (times.settling * 2) / 3);
  const ringer =
    parts.rings === false
      ? undefined
      : startRinger({
          ledger,
          bells,
          timers,
          newId,
          log,
          longestSleep,
          lease: times.lease,
          ...(patrol && { chore: () => patrol.step() }),
        });
  const closed = new AbortController();
  return {
    controller,
    ...waking({ ledger, keys, bells, closed: closed.signal, timers, log }),
    notRunSince: (keys, since) => ledger.notRunSince(keys, since),
    pause: async (scope, by) => bells.add(await ledger.pause(scope, by)),
    resume: async (scope) => bells.add(await ledger.resume(scope)),
    work(handler, options) {
      if (ringer === undefined)
        throw new Error(
          `The queue of ${controller} was opened with upkeep "none": no worker can run its keys.`,
        );
      return startWorker(
        { ledger, bells, ringer, leases, ...times, timers, newId, log },
        handler,
        checkedWork(options),
      );
    },
    stats: (span) => within(span, ledger.count()),
    list: (state, { after, limit }) => ledger.list(state, limit, after),
    inspect: (key) => ledger.inspect(key),
    async origin() {
      const origin = await ledger.origin();
      return parts.onCluster === true ? (known ?? origin) : origin;
    },
    moment: () => settledMoment(ledger, closed.signal, timers),
    ping: (span) => within(span, parts.ping()).then(() => undefined),
    async close() {
      closed.abort(new Error(`The queue of ${controller} was closed before Redis recorded a wake.`));
      leases.stop();
      patrol?.end();
      await ringer?.stop();
      await bells.close();
    },
  };
}

/** Upper bound of the size as JSON: an escaped character takes six bytes. */
const bytesOf = ({ copy = "", news = "" }: Wake): number => 6 * (copy.length + news.length);

/** Removes the text of a delta that is too long to be kept: an empty delta has the same effect. */
const withoutLongNews = (wake: Wake): Wake =>
  wake.news === undefined || Buffer.byteLength(wake.news) <= newsKept ? wake : { ...wake, news: "" };

interface WakingParts {
  readonly ledger: Ledger;
  readonly keys: () => AsyncIterable<readonly ObjectKey[]>;
  readonly bells: Bells;
  readonly closed: AbortSignal;
  readonly timers: Timers;
  readonly log: Log;
}

/** Records wakes, and adds the jobs that the ledger returns. */
function waking(parts: WakingParts): Pick<WorkQueue, "wake" | "force" | "forceAll"> {
  const { ledger, keys, bells, log } = parts;
  const record = async (wakes: readonly Wake[], force: boolean, options: WakeOptions = {}): Promise<void> => {
    const limits = { most: wakesPerCall, size: bytesPerCall, sizeOf: bytesOf };
    for (const piece of pieces(wakes.map(withoutLongNews), limits)) {
      const rung = await untilTaken(() => ledger.wake(piece, force), options, parts);
      await addAtBest(bells, rung, log);
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
      for await (const piece of keys())
        await record(
          // The change that ended a pause may be among the lost ones.
          piece.map((key) => ({ ...forced(key, "listing"), paused: false })),
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
async function untilTaken<T>(
  call: () => Promise<T>,
  { retry = true, signal }: WakeOptions,
  { closed, timers, log }: WakingParts,
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
      await pause(timers, wakeAgain, "sending a wake again");
    }
  }
}

async function settledMoment(ledger: Ledger, signal: AbortSignal, timers: Timers): Promise<QueueMoment> {
  for (;;) {
    const { settlesIn, ...moment } = await ledger.moment();
    if (settlesIn === 0) return moment;
    await pause(timers, settlesIn, "the recovery window", signal);
  }
}

function checkedTimes(times: QueueTimes): QueueTimes {
  const { lease, renewal, settling } = times;
  if (!Object.values(times).every(isTime)) {
    throw new InvalidTimesError("A queue's times are between 1 ms and 24 days.");
  }
  if (lease < 2 * renewal) {
    throw new InvalidTimesError(
      `A lease of ${lease} ms that is renewed every ${renewal} ms ends when one renewal is late. ` +
        `Make the lease at least twice its renewal: ${2 * renewal} ms or more.`,
    );
  }
  if (settling < 2 * renewal) {
    throw new InvalidTimesError(
      `A run must have announced itself within ${settling} ms on a new server: renew at least every ${settling / 2} ms, ` +
        `not every ${renewal}.`,
    );
  }
  return times;
}

function checkedWork(options: WorkOptions): WorkOptions {
  const { concurrency, timeout, version = 0, backoff = {}, limits = {} } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new InvalidTimesError(`A worker runs between 1 and 10,000 keys at once, not ${concurrency}.`);
  }
  if (!isTime(timeout))
    throw new InvalidTimesError(`A run's timeout is between 1 ms and 24 days, not ${timeout}.`);
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new InvalidTimesError(`A function's version is a whole number from 0 on, not ${version}.`);
  }
  checkBackoff(backoff);
  for (const rate of [limits.runs, ...Object.values(limits.accounts ?? {})]) if (rate) checkRate(rate);
  return options;
}

function checkBackoff({ first = 1, longest = longestDuration, attempts = 1 }: Partial<Backoff>): void {
  if (!isTime(first) || !isTime(longest)) {
    throw new InvalidTimesError(`Backoff is between 1 ms and 24 days, not ${first} to ${longest}.`);
  }
  if (longest < first) {
    throw new InvalidTimesError(`The longest backoff (${longest} ms) is below the first (${first} ms).`);
  }
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new InvalidTimesError(`Attempts are a whole number from 1 on, not ${attempts}.`);
  }
}

function checkRate({ perSecond, burst }: Rate): void {
  if (!(perSecond >= 0.001 && perSecond <= 1e6) || !Number.isInteger(burst) || burst < 1 || burst > 1e6) {
    throw new InvalidTimesError(
      `A limit is 0.001 to 1,000,000 runs a second with a burst of 1 to 1,000,000, not ${perSecond} with ${burst}.`,
    );
  }
}

const isTime = (time: number): boolean => time >= 1 && time <= longestDuration;
