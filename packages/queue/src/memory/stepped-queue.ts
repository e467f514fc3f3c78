import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { ClaimJob } from "../worker/job-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import type {
  Backoff,
  Claim,
  KeyReport,
  ListedState,
  QueueTime,
  RunOutcome,
  Wake,
} from "../work-queue/work-queue.ts";

/** A claimed key. If it is never settled, its lease ends, as after the death of a worker. */
export interface SteppedAssignment {
  readonly key: ObjectKey;
  readonly token: string;
  readonly claim: Claim;
  /** When its lease ends, by the queue's clock. */
  readonly until: Milliseconds;
}

/** A work queue without workers, timers or Redis: its caller sets the time, and decides when the next key runs. */
export interface SteppedQueue {
  readonly controller: string;
  wake(wakes: readonly Wake[]): Promise<void>;
  /** The present time, for `newestAfter` of objects that are listed after it. */
  time(): Promise<QueueTime>;
  /** Claims the next key in turn; undefined if none is due. */
  claimNext(): Promise<SteppedAssignment | undefined>;
  settle(assignment: SteppedAssignment, outcome: RunOutcome): Promise<void>;
  /** Keys that wait for a time or are leased, ordered by the end of that; `at` is by the queue's clock. */
  waiting(): Promise<readonly KeyReport[]>;
  /** Parked keys. */
  parked(): Promise<readonly KeyReport[]>;
}

interface SteppedQueueOptions {
  readonly controller: string;
  readonly backoff: Omit<Backoff, "attempts"> & Partial<Backoff>;
  /** Stands in for Redis time. */
  readonly now: () => Milliseconds;
  /** In [0, 1): spreads backoff. */
  readonly random: () => number;
}

const lease: Milliseconds = 6_000;

/** The rules of every work queue (`memory-ledger.ts`), one step at a time: for tests with a clock that stands still. */
export async function openSteppedQueue(options: SteppedQueueOptions): Promise<SteppedQueue> {
  const { controller, backoff, now, random } = options;
  let ahead: Milliseconds = 1;
  const ledger = openMemoryLedger({
    lease,
    recoveryWindow: 1,
    random,
    now: () => now() - ahead,
    expiryNow: now,
  });
  // A new ledger has no runs in progress: let its recovery window end before it is opened.
  await ledger.count();
  ahead = 0;
  await ledger.registerWorker({
    worker: "steps",
    slots: 1,
    version: 0,
    lasts: Number.MAX_SAFE_INTEGER,
    accounts: {},
    backoff,
  });
  const jobs: ClaimJob[] = [];
  let tokens = 0;
  return {
    controller,
    async wake(wakes) {
      jobs.push(...(await ledger.wake(wakes)));
    },
    time: () => ledger.time(),
    async claimNext() {
      for (;;) {
        jobs.push(...(await ledger.dispatch()).jobs);
        const job = jobs.shift();
        if (job === undefined) return undefined;
        const token = `${controller}-${++tokens}`;
        const answer = await ledger.claim(job.key, token);
        if ("claimed" in answer)
          return { key: job.key, token, claim: answer.claimed.claim, until: now() + lease };
      }
    },
    async settle({ key, token }, outcome) {
      const answer = await ledger.settle(key, token, outcome);
      if (answer.kind === "settled") jobs.push(...answer.jobs);
    },
    async waiting() {
      const lists = await Promise.all([listAll(ledger, "waits"), listAll(ledger, "leased")]);
      return lists.flat().sort((a, b) => a.at - b.at);
    },
    parked: () => listAll(ledger, "parked"),
  };
}

async function listAll(ledger: Pick<Ledger, "list">, state: ListedState): Promise<readonly KeyReport[]> {
  const found: KeyReport[] = [];
  let after: string | undefined;
  do {
    const page = await ledger.list(state, 1_000, after);
    found.push(...page.keys);
    after = page.next;
  } while (after !== undefined);
  return found;
}
