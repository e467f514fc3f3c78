import type { Log, Milliseconds } from "@drover/controller";
import type { CancelTimer, Timers } from "@drover/timers";
import type { Bells } from "./bells.ts";
import type { Enlistment, Ledger } from "./ledger.ts";
import type { WorkOptions } from "./work-queue.ts";

/** A ringer that sleeps. */
export interface Ringer {
  /** Something becomes due in `span` ms: do not sleep longer than that. */
  expect(span: Milliseconds): void;
  /** Say, as often as it rings, that a worker is here. */
  enlist(options: WorkOptions): Enlisted;
  stop(): Promise<void>;
}

/** A worker that is said to be here. */
export interface Enlisted {
  /** It takes nothing more: it has no slots but those that are busy, and its version holds nobody back. */
  leaves(busy: () => number): void;
  /** It is gone. */
  end(): Promise<void>;
}

/** A bell unanswered for this long, and not waiting in BullMQ, is lost. */
const patience: Milliseconds = 2_000;
/** As controller-runtime's default, but for the cap: five minutes instead of 17. */
const backoff = { first: 500, longest: 300_000 };

export interface RingerParts {
  readonly ledger: Ledger;
  readonly bells: Bells;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly log: Log;
  /** How long leases last: a worker that died is counted until its last ones have ended. */
  readonly lease: Milliseconds;
  /** Never sleep longer: another process may have set a timer, and Redis may have been replaced. */
  readonly longestSleep: Milliseconds;
  /** What else there is to look after, as often as it rings. */
  readonly chore?: () => Promise<void>;
}

/**
 * Rings for keys whose time has come, takes back expired leases, and rings again what was lost on the way. One runs in
 * every bridge and worker; doubled it is harmless, and timers need no worker to be alive.
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
        log.warn({ err: error }, "Could not ring; trying again");
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
            log.debug({ err: error }, "Could not say that the worker goes; it will be forgotten");
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

/** A sleep that can be cut short from outside, also before it starts. */
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
