import type { Log } from "@drover/controller";
import type { LedgerSurroundings } from "./ledger.ts";
import { openLedgerWorkQueue, type QueueTimes } from "./ledger-work-queue.ts";
import { memoryBells } from "./memory-bells.ts";
import { openMemoryLedger, wallClock } from "./memory-ledger.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface MemoryWorkQueueOptions extends LedgerSurroundings {
  /** The controller's name. */
  readonly controller: string;
  readonly log: Log;
  readonly times?: Partial<QueueTimes>;
  /** Called when `server` returns another name, as if Redis had been replaced. */
  readonly onIncarnation?: (era: string) => void;
}

/**
 * A work queue without Redis: the same rules, worker and dispatcher, on a ledger and a job queue in this process. For
 * tests of functions; its data are lost with the process.
 */
export function openMemoryWorkQueue({
  controller,
  log,
  times = {},
  onIncarnation,
  now = wallClock,
  ...surroundings
}: MemoryWorkQueueOptions): WorkQueue {
  return openLedgerWorkQueue({
    controller,
    openLedger(ledgerTimes, onEra) {
      // No run can be in progress on a new ledger: its recovery window is over before it is opened.
      let ahead = ledgerTimes.settling;
      const ledger = openMemoryLedger({ ...surroundings, ...ledgerTimes, onEra, now: () => now() - ahead });
      void ledger.count();
      ahead = 0;
      return {
        ledger,
        async *keys() {
          yield await Promise.resolve([...ledger.backup().entries.keys()]);
        },
      };
    },
    bells: memoryBells(),
    log,
    times,
    onIncarnation,
    ping: () => Promise.resolve(),
  });
}
