import { silentLog } from "@drover/controller";
import { type LedgerWorkQueueParts, openLedgerWorkQueue } from "../work-queue/ledger-work-queue.ts";
import type { Ledger, LedgerEnvironment } from "../ledger/ledger.ts";
import { type MemoryLedger, openMemoryLedger } from "../memory/memory-ledger.ts";
import type { WorkQueue } from "../work-queue/work-queue.ts";
import { openMemoryJobQueue } from "./memory-job-queue.fixture.ts";

/** The parts of a work queue in memory that a test may replace, and the times that it must give. */
export interface MemoryWorkQueueParts
  extends
    Omit<Partial<LedgerWorkQueueParts>, "times">,
    Pick<LedgerWorkQueueParts, "times">,
    Partial<Omit<ReturnType<LedgerWorkQueueParts["openLedger"]>, "ledger">> {
  readonly environment?: LedgerEnvironment;
  /** Returns the ledger that the queue calls. Default: the one in memory itself. */
  readonly intercept?: (memory: MemoryLedger) => Ledger;
}

/** A work queue on a ledger and a job queue in memory. */
export function openMemoryWorkQueue(options: MemoryWorkQueueParts): WorkQueue {
  const { environment, intercept, scrubber, keys = async function* () {}, ...parts } = options;
  return openLedgerWorkQueue({
    controller: "buckets",
    openLedger(times, onIncarnation) {
      const memory = openMemoryLedger({ ...environment, ...times, onIncarnation });
      return { ledger: intercept?.(memory) ?? memory, ...(scrubber && { scrubber }), keys };
    },
    jobQueue: openMemoryJobQueue(),
    log: silentLog,
    onIncarnation: undefined,
    ping: () => Promise.resolve(),
    ...parts,
  });
}
