import type { Log, Milliseconds } from "@drover/controller";
import type { CancelTimer, Timers } from "@drover/timers";
import type { JobQueue } from "./job-queue.ts";
import type { WorkerRegistration, Ledger } from "../ledger/ledger.ts";
import type { WorkOptions } from "../work-queue/work-queue.ts";

/** A running dispatcher. */
export interface Dispatcher {
  /** A key becomes due in `span` ms: do not sleep longer than that. */
  expectDueIn(span: Milliseconds): void;
  /** Registers a worker, and renews that in every turn of the loop. */
  registerWorker(options: WorkOptions): RegisteredWorker;
  stop(): Promise<void>;
}

/** A registered worker. */
export interface RegisteredWorker {
  /** The worker takes no more keys. Only its busy slots count from now on, and its version holds no older one back. */
  drain(busy: () => number): void;
  /** Removes the worker. */
  unregister(): Promise<void>;
}

/** A job counts as lost if no worker has claimed its key for this long, and it is not waiting in BullMQ. */
const lostJobAge: Milliseconds = 2_000;
/** In ms. The defaults of controller-runtime are 5 ms and 17 minutes. */
const defaultBackoff = { first: 500, longest: 300_000 };

export interface DispatcherParts {
  readonly ledger: Ledger;
  readonly jobQueue: JobQueue;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly log: Log;
  /** How long leases last. A worker that died stays registered until its last leases have ended. */
  readonly lease: Milliseconds;
  /** The longest sleep: another process may have set a timer, and Redis may have been replaced. */
  readonly longestSleep: Milliseconds;
  /** Further upkeep, done in every turn of the loop. */
  readonly upkeep?: () => Promise<void>;
}

/**
 * Starts a dispatcher: a loop that makes keys due when their time comes, takes back expired leases, adds jobs, and adds
 * lost jobs again. One runs in every bridge and worker. Several at once do no harm, and timers need no live worker.
 */
export function startDispatcher(parts: DispatcherParts): Dispatcher {
  const { ledger, jobQueue, timers, log, lease, longestSleep, upkeep } = parts;
  const sleep = interruptibleSleep(timers);
  const stopping = new AbortController();
  const registrations = new Set<() => WorkerRegistration>();

  const tick = async (): Promise<Milliseconds> => {
    for (const worker of registrations) await ledger.registerWorker(worker());
    await upkeep?.();
    await redispatchLostJobs(ledger, jobQueue);
    const { next, jobs } = await ledger.dispatch();
    await jobQueue.add(jobs);
    return next ?? longestSleep;
  };
  const loop = (async () => {
    for (;;) {
      const next = await tick().catch((error: unknown) => {
        log.warn({ err: error }, "Could not dispatch due keys; trying again");
        return longestSleep;
      });
      if (stopping.signal.aborted) return;
      await sleep.atMost(Math.min(next, longestSleep));
    }
  })();

  return {
    expectDueIn: (span) => sleep.atMostFromNow(span),
    registerWorker(options) {
      const registered = registrationOf(parts.newId(), options, lease + 2 * longestSleep);
      let current = (): WorkerRegistration => registered;
      const worker = (): WorkerRegistration => current();
      registrations.add(worker);
      sleep.atMostFromNow(0);
      return {
        drain(busy) {
          current = () => ({ ...registered, slots: busy(), version: 0 });
          sleep.atMostFromNow(0);
        },
        async unregister() {
          registrations.delete(worker);
          await ledger.registerWorker({ ...registered, slots: 0 }).catch((error: unknown) => {
            log.debug({ err: error }, "Could not unregister the worker; its registration will expire");
          });
        },
      };
    },
    async stop() {
      stopping.abort();
      sleep.atMostFromNow(0);
      await loop;
    },
  };
}

function registrationOf(worker: string, options: WorkOptions, lasts: Milliseconds): WorkerRegistration {
  const { concurrency, version = 0, limits = {} } = options;
  return {
    worker,
    slots: concurrency,
    version,
    lasts,
    backoff: { ...defaultBackoff, ...options.backoff },
    ...(limits.runs && { runs: limits.runs }),
    accounts: limits.accounts ?? {},
  };
}

async function redispatchLostJobs(ledger: Ledger, jobQueue: JobQueue): Promise<void> {
  const unclaimed = await ledger.unclaimedJobs(lostJobAge);
  if (unclaimed.length === 0) return;
  const waiting = new Set(await jobQueue.stillWaiting(unclaimed));
  for (const job of unclaimed) if (!waiting.has(job)) await ledger.dispatchAgain(job);
}

/** A sleep that can be shortened from outside, also before it starts. */
function interruptibleSleep(timers: Timers): {
  atMost(span: Milliseconds): Promise<void>;
  atMostFromNow(span: Milliseconds): void;
} {
  let wakeAt = Infinity;
  let rearm: (() => void) | undefined;
  return {
    atMost: (span) =>
      new Promise((resolve) => {
        let cancel: CancelTimer;
        const arm = (): void => {
          cancel = timers.after(Math.max(0, wakeAt - timers.now()), "ringing", done);
        };
        const done = (): void => {
          rearm = undefined;
          wakeAt = Infinity;
          resolve();
        };
        rearm = () => {
          cancel();
          arm();
        };
        wakeAt = Math.min(wakeAt, timers.now() + span);
        arm();
      }),
    atMostFromNow(span) {
      wakeAt = Math.min(wakeAt, timers.now() + span);
      rearm?.();
    },
  };
}
