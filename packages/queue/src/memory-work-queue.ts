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
  /** Told when `server` answers another name: as Redis replaced by another. */
  readonly onIncarnation?: (era: string) => void;
}

/**
 * A work queue without Redis: the same rules, worker and ringer, on a ledger and bells in this process. For tests of
 * functions; what it holds is gone with the process.
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
      // Nobody can be under way on a ledger that is only now made: it settled before it was opened.
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
