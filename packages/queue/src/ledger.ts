import type { Milliseconds, ObjectKey, Rate } from "@drover/controller";
import type { Bell } from "./bells.ts";
import type {
  Backoff,
  Claim,
  KeyPage,
  KeyReport,
  ListedState,
  PastRun,
  QueueMoment,
  QueueStats,
  Refusal,
  Scope,
  Verdict,
  Wake,
} from "./work-queue.ts";

/** A run as its worker reports it. When it ended is the ledger's to say: workers' clocks may be minutes apart. */
export type RunRecord = Omit<PastRun, "at">;

/** How a ledger keeps time. */
export interface LedgerTimes {
  /** How long a claim holds without being renewed. */
  readonly lease: Milliseconds;
  /** After Redis was restarted or replaced: how long nothing is claimed, so that runs under way announce themselves. */
  readonly settling: Milliseconds;
}

/** What a test may hold in its own hands. */
export interface LedgerSurroundings {
  /** Stands in for Redis time. */
  readonly now?: () => Milliseconds;
  /** Stands in for the server's replication id. */
  readonly server?: () => string;
  /** In [0, 1): spreads backoff. */
  readonly random?: () => number;
}

/** What a claim was answered. */
export type ClaimAnswer = { readonly claimed: Claim } | { readonly refused: Refusal };

/** Keys that no run was started of since some time. */
export interface NotRun {
  /** Redis time, ms. */
  readonly now: number;
  readonly keys: readonly ObjectKey[];
}

/** What a settle was answered. */
export type SettleAnswer =
  | {
      readonly kind: "settled";
      /** The time until the key runs again, when that is known. */
      readonly dueIn: Milliseconds | undefined;
      readonly bells: readonly Bell[];
      /** What the worker is to run next. */
      readonly handed?: Handed | undefined;
    }
  | { readonly kind: "stale" };

/** A key that was handed over: the worker's own, as if it had claimed it. */
export interface Handed {
  readonly key: ObjectKey;
  readonly claim: Claim;
}

/** Who settles a run and would run another key at once. */
export interface Taker {
  /** Of that run; another one than that of the run which is settled. */
  readonly token: string;
  readonly version: number;
  /** By whom the slot is offered under that token where nothing is due. Left out: it is not. */
  readonly offeredBy?: Offering;
}

/** Who offers slots, and when. */
export interface Offering {
  readonly worker: string;
  /**
   * By the worker's own clock, in whole ms. It is told back with what was given: the lease began after that, however late the
   * worker hears of it.
   */
  readonly askedAt: number;
}

/** Slots of a worker that are free. */
export interface Offers extends Offering {
  readonly version: number;
  /** One for each slot, without a colon: a claim may be made under it. */
  readonly tokens: readonly string[];
}

/** A key that was given to a free slot. */
export interface Given extends Handed {
  /** The token that the slot was offered under. */
  readonly slot: string;
  /** Of the run: the slot's and a colon come first in it. It was never given before, whatever became of the slot's. */
  readonly token: string;
  /** As it was said when the slot was offered last. */
  readonly askedAt: number;
}

/** A run's lease, as a worker knows it. */
export interface Holding {
  readonly key: ObjectKey;
  readonly token: string;
}

/** What a ledger answers to those who renew. */
export interface Renewal {
  /** Another one than before: another server, or other data. */
  readonly era: string;
  /** The tokens of leases that are another's, or nobody's. */
  readonly lost: readonly string[];
  /** The tokens of runs that the ledger knows only because they renewed: others may have run since they were claimed. */
  readonly announced: readonly string[];
}

/** A moment, and in how many ms the ledger will have settled then. */
export interface LedgerMoment extends QueueMoment {
  readonly settlesIn: Milliseconds;
}

/** Something that hears until it is stopped. */
export interface Listening {
  /** Resolves when all is heard that was said before. */
  caughtUp(): Promise<void>;
  stop(): void;
}

/** A worker process as the ledger knows it. */
export interface Enlistment {
  readonly worker: string;
  /** Runs that it takes at once; 0 says that it goes. */
  readonly slots: number;
  readonly version: number;
  /** Forgotten after that time, unless it says again that it is here. */
  readonly lasts: Milliseconds;
  readonly backoff: Omit<Backoff, "attempts"> & Partial<Backoff>;
  readonly runs?: Rate;
  readonly accounts: Readonly<Record<string, Rate>>;
}

/** The truth about one controller's keys. Every method happens whole or not at all. */
export interface Ledger {
  /** With `force` they run whatever they wait for. */
  wake(wakes: readonly Wake[], force?: boolean): Promise<readonly Bell[]>;
  claim(key: ObjectKey, token: string, version?: number): Promise<ClaimAnswer>;
  /** Leases that are still ours last from now on. */
  renew(leases: readonly Holding[]): Promise<Renewal>;
  /** Ends a run; the same again is answered as before. `next` may be handed the key whose turn it is. */
  settle(
    key: ObjectKey,
    token: string,
    verdict: Verdict,
    run?: RunRecord,
    next?: Taker,
  ): Promise<SettleAnswer>;
  /** Take back expired leases and ring for whose turn it is; `next` is the time until something may be due. */
  ring(): Promise<{ readonly next: Milliseconds | undefined; readonly bells: readonly Bell[] }>;
  /**
   * These slots are free: each is given a key whose turn comes, for as long as a server settles; to be said again
   * before. Answers what they were given that may not have been heard of, without copies.
   */
  offer(offers: Offers): Promise<readonly Given[]>;
  /** They are not any more; answers what they were given before. */
  withdraw(offers: Offers): Promise<readonly Given[]>;
  /**
   * Hears what is given to a worker, at once. It may get lost on the way: the next `offer` tells of it.
   */
  listen(worker: string, given: (given: Given) => void): Listening;
  /** Bells rung longer than `patience` ago that no claim has answered. */
  unanswered(patience: Milliseconds): Promise<readonly Bell[]>;
  ringAgain(bell: Bell): Promise<void>;
  enlist(worker: Enlistment): Promise<void>;
  pause(scope: Scope, by: string): Promise<readonly Bell[]>;
  resume(scope: Scope): Promise<readonly Bell[]>;
  /** The era in which it began with nothing: it stays when a server takes over what another one had. */
  origin(): Promise<string>;
  moment(): Promise<LedgerMoment>;
  count(): Promise<QueueStats>;
  /** Which of these keys no run was started of since a time, by the ledger's clock; and what that says now. */
  notRunSince(keys: readonly ObjectKey[], since: number): Promise<NotRun>;
  list(state: ListedState, limit: number, after?: string): Promise<KeyPage>;
  inspect(key: ObjectKey): Promise<{ readonly key: KeyReport; readonly runs: readonly PastRun[] }>;
}

/** Past runs kept per key. */
export const runsKept = 10;
/** How long the last answer and the history of a key are kept that is gone. */
export const answerKept: Milliseconds = 60_000;
/**
 * A listing that was asked for so long ago is not known to be newer than all that was forgotten: shorter than `answerKept`,
 * by what clocks and calls may differ.
 */
export const listingBelieved: Milliseconds = 50_000;
/**
 * A bell that was rung so long ago, and not answered, waits for a free worker while others are handed key after key:
 * its key is handed first.
 */
export const bellOverlooked: Milliseconds = 200;
/** Bytes of all copies at most: one is kept as long as one of its size for every ready key would not be more. */
export const copiesKept = 67_108_864;
/** How long the copy is kept that a run has left, and its lists. */
export const leftCopyKept: Milliseconds = 10_000;
/** Bytes of a key's news at most: where there are more, lists are read live. */
export const newsKept = 65_536;
/** How long runs take is kept as a whole number of so many parts of a ms. */
export const paceUnit = 16;
/** Characters kept of an error's text. */
export const errorKept = 1_000;
/** Characters kept of a pause's author. */
export const pauserKept = 200;
