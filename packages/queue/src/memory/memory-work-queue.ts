import type { Log } from "@drover/controller";
import type { LedgerEnvironment } from "../ledger/ledger.ts";
import { openLedgerWorkQueue, type QueueDurations } from "../work-queue/ledger-work-queue.ts";
import { openMemoryJobQueue } from "./memory-job-queue.ts";
import { openMemoryLedger, wallClock } from "./memory-ledger.ts";
import type { WorkQueue } from "../work-queue/work-queue.ts";

export interface MemoryWorkQueueOptions extends LedgerEnvironment {
  /** The controller's name. */
  readonly controller: string;
  readonly log: Log;
  readonly times?: Partial<QueueDurations>;
  /** Called when `server` returns another name, as if Redis had been replaced. */
  readonly onIncarnation?: (incarnation: string) => void;
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
  ...environment
}: MemoryWorkQueueOptions): WorkQueue {
  return openLedgerWorkQueue({
    controller,
    openLedger(ledgerTimes, reportIncarnation) {
      // No run can be in progress on a new ledger: its recovery window is over before it is opened.
      let ahead = ledgerTimes.recoveryWindow;
      const ledger = openMemoryLedger({
        ...environment,
        ...ledgerTimes,
        onIncarnation: reportIncarnation,
        now: () => now() - ahead,
      });
      void ledger.count();
      ahead = 0;
      return {
        ledger,
        async *keys() {
          yield await Promise.resolve([...ledger.backup().entries.keys()]);
        },
      };
    },
    jobQueue: openMemoryJobQueue(),
    log,
    times,
    onIncarnation,
    ping: () => Promise.resolve(),
  });
}
