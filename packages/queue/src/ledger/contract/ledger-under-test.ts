import { objectKey, type ObjectKey } from "@drover/controller";
import { randomUUID } from "node:crypto";
import { beforeEach } from "vitest";
import type { WorkerRegistration, Ledger, LedgerEnvironment, LedgerDurations } from "../ledger.ts";
import type { ClaimJob } from "../../worker/job-queue.ts";
import type { Claim, KeyReport, ListedState, RunOutcome, Wake } from "../../work-queue/work-queue.ts";

export const lease = 6_000;
export const recoveryWindow = 1_000;
export const key = objectKey({ namespace: "default", name: "photos" });
export const failed: RunOutcome = { kind: "retry", error: "no" };
export const done: RunOutcome = { kind: "done" };
/** Outcomes after which a run leaves nothing to the next one. */
export const outcomesLeavingNothing: readonly (readonly [string, RunOutcome])[] = [
  ["failed", failed],
  ["failed for good", { kind: "terminal", error: "no" }],
  ["met a conflict", { kind: "conflict" }],
  ["was interrupted", { kind: "interrupted" }],
  ["was throttled", { kind: "throttled", account: "a", after: 1 }],
  ["found its object paused", { kind: "paused" }],
];
/** Every outcome except that the object is gone. */
export const outcomesExceptGone: readonly (readonly [string, RunOutcome])[] = [
  ["was done", done],
  ["waits", { kind: "wait", after: 10_000_000 }],
  ...outcomesLeavingNothing,
];

/** An empty ledger, and ways to change its data without a call to it. */
export interface OpenedLedger<L extends Ledger = Ledger> {
  readonly ledger: L;
  /** Keeps the data as they are now; returns a function that restores them. */
  backup(): Promise<() => Promise<void>>;
  loseAll(): Promise<void>;
}

/** Opens a new ledger of one kind for every test. */
export type OpenLedger<L extends Ledger = Ledger> = (
  options: LedgerDurations &
    Required<LedgerEnvironment> & { readonly onIncarnation: (incarnation: string) => void },
) => OpenedLedger<L>;

/** A ledger with a clock and a server id that the test sets. */
export class LedgerUnderTest<L extends Ledger = Ledger> {
  clock = 1_000_000;
  server = "first";
  incarnations: string[] = [];
  #opened: OpenedLedger<L> | undefined;
  #version = 100;

  get ledger(): L {
    return this.#needed().ledger;
  }

  async open(open: OpenLedger<L>): Promise<void> {
    this.clock = 1_000_000;
    this.server = "first";
    this.incarnations = [];
    this.#opened = open({
      lease,
      recoveryWindow,
      now: () => this.clock,
      server: () => this.server,
      random: () => 0.999_999,
      onIncarnation: (incarnation) => void this.incarnations.push(incarnation),
    });
    await this.registerWorker();
    this.clock += recoveryWindow;
  }

  #needed(): OpenedLedger<L> {
    if (!this.#opened) throw new Error("The ledger is opened before each test: use it only within a test.");
    return this.#opened;
  }

  registerWorker(fields: Partial<WorkerRegistration> = {}): Promise<void> {
    const backoff = { first: 1_000, longest: 8_000 };
    const usual = { worker: "w1", slots: 1, version: 0, lasts: 10_000_000, backoff, accounts: {} };
    return this.ledger.registerWorker({ ...usual, ...fields });
  }

  /** Wakes a key, and returns the jobs to add. */
  wakeForJobs(of: ObjectKey, fields: Partial<Wake> = {}, force = false): Promise<readonly ClaimJob[]> {
    const resourceVersion = String(this.#version++);
    const wake = { key: of, kind: "buckets", resourceVersion, reason: "Modified", class: "change" } as const;
    return this.ledger.wake([{ ...wake, ...fields }], force);
  }

  /** Wakes a key, and returns the keys of the jobs to add. */
  async wake(of: ObjectKey, fields?: Partial<Wake>, force?: boolean): Promise<readonly ObjectKey[]> {
    return (await this.wakeForJobs(of, fields, force)).map((job) => job.key);
  }

  /** Wakes a key, and claims it. */
  async wakeAndClaim(of: ObjectKey, token: string, fields?: Partial<Wake>): Promise<Claim> {
    await this.wake(of, fields);
    return this.claim(of, token);
  }

  /** Wakes a key, and runs it; returns in how many ms it is due again. */
  async wakeAndRun(of: ObjectKey, outcome: RunOutcome, fields?: Partial<Wake>): Promise<number | undefined> {
    await this.wake(of, fields);
    return this.run(of, outcome);
  }

  /** Dispatches, and claims a key that is due. */
  async begin(of: ObjectKey, token: string): Promise<Claim> {
    await this.ledger.dispatch();
    return this.claim(of, token);
  }

  /** Claims a dispatched key. */
  async claim(of: ObjectKey, token: string = randomUUID()): Promise<Claim> {
    const answer = await this.ledger.claim(of, token);
    if ("refused" in answer) throw new Error(`${of} refused: ${answer.refused}`);
    return answer.claimed.claim;
  }

  /** The reason for which a key cannot be claimed now; "claimed" if it was. */
  async refusal(of: ObjectKey, token: string = randomUUID()): Promise<string> {
    const answer = await this.ledger.claim(of, token);
    return "refused" in answer ? answer.refused : "claimed";
  }

  /** Dispatches, and returns the keys of the jobs to add. */
  async dispatched(): Promise<readonly ObjectKey[]> {
    return (await this.ledger.dispatch()).jobs.map((job) => job.key);
  }

  /** The state of a key. */
  async inspect(of: ObjectKey): Promise<KeyReport> {
    return (await this.ledger.inspect(of)).key;
  }

  /** All keys in a state. */
  async list(state: ListedState): Promise<readonly KeyReport[]> {
    return (await this.ledger.list(state, 1_000)).keys;
  }

  /** Runs a dispatched key; returns in how many ms it is due again. */
  async run(of: ObjectKey, outcome: RunOutcome): Promise<number | undefined> {
    const token = randomUUID();
    await this.claim(of, token);
    const answer = await this.ledger.settle(of, token, outcome);
    if (answer.kind === "stale") throw new Error(`${of} was stale`);
    return answer.dueIn;
  }

  /**
   * Returns a function that fails over to a server with the data as they are now, as if it had lost the last writes or
   * read an old dump.
   */
  async backup(): Promise<() => Promise<void>> {
    const restore = await this.#needed().backup();
    return async () => {
      await restore();
      this.server = "another";
    };
  }

  loseAll(): Promise<void> {
    return this.#needed().loseAll();
  }
}

/** A ledger that is opened before each test. */
export function ledgerUnderTest<L extends Ledger>(open: OpenLedger<L>): LedgerUnderTest<L> {
  const subject = new LedgerUnderTest<L>();
  beforeEach(() => subject.open(open));
  return subject;
}

/** Keys `<namespace>/<prefix>0`, `<namespace>/<prefix>1`, ... */
export const keysIn = (namespace: string, count: number, prefix = "n"): readonly ObjectKey[] =>
  Array.from({ length: count }, (_, i) => objectKey({ namespace, name: `${prefix}${i}` }));
