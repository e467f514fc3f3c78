import type { Log, Milliseconds } from "@drover/controller";
import type { Bells } from "./bells.ts";
import type { Ledger } from "./ledger.ts";

/** A ringer that sleeps. */
export interface Ringer {
  /** Something becomes due in `span` ms: do not sleep longer than that. */
  expect(span: Milliseconds): void;
  stop(): Promise<void>;
}

/** Never sleep longer: another process may have set a timer. */
const longestSleep: Milliseconds = 1_000;
/** A bell unanswered for this long, and not waiting in BullMQ, is lost. */
const patience: Milliseconds = 2_000;

/**
 * Rings for keys whose time has come, takes back expired leases, and rings again what was lost on the way. One runs in
 * every bridge and worker; doubled it is harmless, and timers need no worker to be alive.
 */
export function startRinger({ ledger, bells, log }: { ledger: Ledger; bells: Bells; log: Log }): Ringer {
  const sleep = interruptibleSleep();
  const stopping = new AbortController();

  const tick = async (): Promise<Milliseconds> => {
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
    async stop() {
      stopping.abort();
      sleep.atMostFromNow(0);
      await turning;
    },
  };
}

async function ringLostAgain(ledger: Ledger, bells: Bells): Promise<void> {
  const unanswered = await ledger.unanswered(patience);
  if (unanswered.length === 0) return;
  const waiting = new Set(await bells.waiting(unanswered));
  for (const bell of unanswered) if (!waiting.has(bell)) await ledger.ringAgain(bell);
}

/** A sleep that can be cut short from outside, also before it starts. */
function interruptibleSleep(): {
  atMost(span: Milliseconds): Promise<void>;
  atMostFromNow(span: Milliseconds): void;
} {
  let wakeAt = Infinity;
  let rearm: (() => void) | undefined;
  return {
    atMost: (span) =>
      new Promise((resolve) => {
        let timer: NodeJS.Timeout;
        const done = (): void => {
          rearm = undefined;
          wakeAt = Infinity;
          resolve();
        };
        rearm = () => {
          clearTimeout(timer);
          timer = setTimeout(done, Math.max(0, wakeAt - performance.now()));
        };
        wakeAt = Math.min(wakeAt, performance.now() + span);
        timer = setTimeout(done, Math.max(0, wakeAt - performance.now()));
      }),
    atMostFromNow(span) {
      wakeAt = Math.min(wakeAt, performance.now() + span);
      rearm?.();
    },
  };
}
