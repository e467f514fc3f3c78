import type { Log, Milliseconds } from "@drover/controller";
import type { CancelTimer, Timers } from "@drover/timers";
import type { Bells } from "./bells.ts";
import type { Enlistment, Ledger } from "./ledger.ts";
import type { WorkOptions } from "./work-queue.ts";

/** A running dispatcher. */
export interface Ringer {
  /** A key becomes due in `span` ms: do not sleep longer than that. */
  expect(span: Milliseconds): void;
  /** Registers a worker, and renews that in every turn of the loop. */
  enlist(options: WorkOptions): Enlisted;
  stop(): Promise<void>;
}

/** A registered worker. */
export interface Enlisted {
  /** The worker takes no more keys. Only its busy slots count from now on, and its version holds no older one back. */
  leaves(busy: () => number): void;
  /** Removes the worker. */
  end(): Promise<void>;
}

/** A job counts as lost if no worker has claimed its key for this long, and it is not waiting in BullMQ. */
const patience: Milliseconds = 2_000;
/** In ms. The defaults of controller-runtime are 5 ms and 17 minutes. */
const backoff = { first: 500, longest: 300_000 };

export interface RingerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly log: Log;
  /** How long leases last. A worker that died stays registered until its last leases have ended. */
  readonly lease: Milliseconds;
  /** The longest sleep: another process may have set a timer, and Redis may have been replaced. */
  readonly longestSleep: Milliseconds;
  /** Further upkeep, done in every turn of the loop. */
  readonly chore?: () => Promise<void>;
}

/**
 * Starts a dispatcher: a loop that makes keys due when their time comes, takes back expired leases, adds jobs, and adds
 * lost jobs again. One runs in every bridge and worker. Several at once do no harm, and timers need no live worker.
 */
export function startRinger(parts: RingerParts): Ringer {
  const { ledger, bells, timers, log, lease, longestSleep, chore } = parts;
  const sleep = interruptibleSleep(timers);
  const stopping = new AbortController();
  const enlisted = new Set<() => Enlistment>();

  const tick = async (): Promise<Milliseconds> => {
    for (const worker of enlisted) await ledger.enlist(worker());
    await chore?.();
    await ringLostAgain(ledger, bells);
    const { next, bells: rung } = await ledger.ring();
    await bells.add(rung);
    return next ?? longestSleep;
  };
  const turning = (async () => {
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
    expect: (span) => sleep.atMostFromNow(span),
    enlist(options) {
      const here = enlistment(parts.newId(), options, lease + 2 * longestSleep);
      let now = (): Enlistment => here;
      const worker = (): Enlistment => now();
      enlisted.add(worker);
      sleep.atMostFromNow(0);
      return {
        leaves(busy) {
          now = () => ({ ...here, slots: busy(), version: 0 });
          sleep.atMostFromNow(0);
        },
        async end() {
          enlisted.delete(worker);
          await ledger.enlist({ ...here, slots: 0 }).catch((error: unknown) => {
            log.debug({ err: error }, "Could not unregister the worker; its registration will expire");
          });
        },
      };
    },
    async stop() {
      stopping.abort();
      sleep.atMostFromNow(0);
      await turning;
    },
  };
}

function enlistment(worker: string, options: WorkOptions, lasts: Milliseconds): Enlistment {
  const { concurrency, version = 0, limits = {} } = options;
  return {
    worker,
    slots: concurrency,
    version,
    lasts,
    backoff: { ...backoff, ...options.backoff },
    ...(limits.runs && { runs: limits.runs }),
    accounts: limits.accounts ?? {},
  };
}

async function ringLostAgain(ledger: Ledger, bells: Bells): Promise<void> {
  const unanswered = await ledger.unanswered(patience);
  if (unanswered.length === 0) return;
  const waiting = new Set(await bells.waiting(unanswered));
  for (const bell of unanswered) if (!waiting.has(bell)) await ledger.ringAgain(bell);
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
