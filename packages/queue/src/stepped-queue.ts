import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Bell } from "./bells.ts";
import type { Ledger } from "./ledger.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import type { Backoff, Claim, KeyReport, ListedState, QueueMoment, Verdict, Wake } from "./work-queue.ts";

/** A claimed key. If it is never settled, its lease ends, as after the death of a worker. */
export interface SteppedTurn {
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
  /** The present moment, for `newestAfter` of objects that are listed after it. */
  moment(): Promise<QueueMoment>;
  /** Claims the next key in turn; undefined if none is due. */
  take(): Promise<SteppedTurn | undefined>;
  settle(turn: SteppedTurn, verdict: Verdict): Promise<void>;
  /** Keys that wait for a time or are leased, ordered by the end of that; `at` is by the queue's clock. */
  waiting(): Promise<readonly KeyReport[]>;
  /** Parked keys. */
  parked(): Promise<readonly KeyReport[]>;
}

export interface SteppedQueueOptions {
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
  const ledger = openMemoryLedger({ lease, settling: 1, random, now: () => now() - ahead, age: now });
  // A new ledger has no runs in progress: let its recovery window end before it is opened.
  await ledger.count();
  ahead = 0;
  await ledger.enlist({
    worker: "steps",
    slots: 1,
    version: 0,
    lasts: Number.MAX_SAFE_INTEGER,
    accounts: {},
    backoff,
  });
  const bells: Bell[] = [];
  let tokens = 0;
  return {
    controller,
    async wake(wakes) {
      bells.push(...(await ledger.wake(wakes)));
    },
    moment: () => ledger.moment(),
    async take() {
      for (;;) {
        bells.push(...(await ledger.ring()).bells);
        const bell = bells.shift();
        if (bell === undefined) return undefined;
        const token = `${controller}-${++tokens}`;
        const answer = await ledger.claim(bell.key, token);
        if ("claimed" in answer) return { key: bell.key, token, claim: answer.claimed, until: now() + lease };
      }
    },
    async settle({ key, token }, verdict) {
      const answer = await ledger.settle(key, token, verdict);
      if (answer.kind === "settled") bells.push(...answer.bells);
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
