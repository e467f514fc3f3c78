import type { Milliseconds, ObjectKey, Rate } from "@drover/controller";
import type { ClaimJob } from "../worker/job-queue.ts";
import type {
  Arrival,
  Backoff,
  Claim,
  KeyPage,
  KeyReport,
  ListedState,
  PastRun,
  QueueTime,
  QueueStats,
  ClaimRefusal,
  PauseScope,
  RunOutcome,
  Wake,
} from "../work-queue/work-queue.ts";

/** A run as its worker reports it. The ledger sets the end time, because workers' clocks may differ by minutes. */
export type RunReport = Omit<PastRun, "at">;

/** Durations that a ledger applies. */
export interface LedgerDurations {
  /** A lease ends this long after the claim or the last renewal. */
  readonly lease: Milliseconds;
  /**
   * The recovery window after Redis was restarted or replaced: no key is claimed, so that runs in progress announce
   * themselves. An advertised slot stays valid for as long.
   */
  readonly recoveryWindow: Milliseconds;
}

/** Inputs that a test may replace. */
export interface LedgerEnvironment {
  /** Replaces Redis time. */
  readonly now?: () => Milliseconds;
  /** Replaces the server's replication id. */
  readonly server?: () => string;
  /** A random number in [0, 1) that spreads backoff. */
  readonly random?: () => number;
}

/** The answer to a claim. */
export type ClaimAnswer = { readonly claimed: LeasedKey } | { readonly refused: ClaimRefusal };

/** Keys for which no run has started since a given time. */
export interface NotRun {
  /** Redis time, ms. */
  readonly now: number;
  readonly keys: readonly ObjectKey[];
}

/** The answer to a settle. */
export type SettleAnswer =
  | {
      readonly kind: "settled";
      /** The time until the key is due again, if it waits for a time. */
      readonly dueIn: Milliseconds | undefined;
      readonly jobs: readonly ClaimJob[];
      /** The key that the worker runs next. */
      readonly chained?: LeasedKey | undefined;
    }
  | { readonly kind: "stale" };

/** A key under a lease, on its way to a slot of a worker. */
export interface LeasedKey {
  readonly key: ObjectKey;
  /** The token under which the worker asked for a key for this slot, or advertised it. */
  readonly slot: string;
  /**
   * The token of the run. It is the slot's, except that of an assigned key: the slot's, a colon, and more. Such a token
   * was never used before, even if the slot's was.
   */
  readonly token: string;
  /** When the worker asked, by its own clock, ms: the lease began after that, however late the key arrives. */
  readonly askedAt: number;
  readonly claim: Claim;
  readonly arrival: Arrival;
}

/** A slot for which a worker asks for a key. */
export interface SlotRequest {
  /** The token for the next run; not the token of the run that is settled. */
  readonly token: string;
  readonly version: number;
  /**
   * By the worker's own clock, an integer number of ms. The ledger returns it with the leased key. Default: 0, so that
   * the lease counts as over.
   */
  readonly askedAt?: number;
  /** If no key is due, the slot is advertised under that token for this worker. Left out: it is not advertised. */
  readonly worker?: string;
}

/** Idle slots of a worker. */
export interface IdleSlots extends Required<Omit<SlotRequest, "token">> {
  /** One per slot, without a colon. The worker may also claim a key under it. */
  readonly tokens: readonly string[];
}

/** A lease that a worker holds for a run. */
export interface HeldLease {
  readonly key: ObjectKey;
  readonly token: string;
}

/** The answer to a renewal. */
export interface Renewal {
  /** A new incarnation means another server, or other data. */
  readonly incarnation: string;
  /** Tokens of runs that no longer hold their key; another run may. */
  readonly lost: readonly string[];
  /**
   * Tokens of runs that announced themselves and are otherwise missing from the data: other runs of their keys may have
   * started since they were claimed.
   */
  readonly announced: readonly string[];
}

/** A time, and how many ms of the recovery window are left then. */
export interface LedgerTime extends QueueTime {
  readonly recoveryLeft: Milliseconds;
}

/** A subscription that delivers messages until it is stopped. */
export interface ChannelSubscription {
  /** Resolves when every message that was sent before the call has been delivered. */
  caughtUp(): Promise<void>;
  stop(): void;
}

/** A worker process as the ledger registers it. */
export interface WorkerRegistration {
  readonly worker: string;
  /** Runs that it takes at once; 0 removes the worker. */
  readonly slots: number;
  readonly version: number;
  /** The registration ends after that time, unless the worker is registered again. */
  readonly lasts: Milliseconds;
  readonly backoff: Omit<Backoff, "attempts"> & Partial<Backoff>;
  readonly runs?: Rate;
  readonly accounts: Readonly<Record<string, Rate>>;
}

/**
 * The authoritative state of one controller's keys. Every method is atomic. A method that returns jobs leaves it to the
 * caller to add them.
 */
export interface Ledger {
  /** Records wakes. With `force`, the keys run whatever they wait for, except a pause. */
  wake(wakes: readonly Wake[], force?: boolean): Promise<readonly ClaimJob[]>;
  /** Leases a key to the slot with that token: see `SlotRequest`. */
  claim(key: ObjectKey, token: string, version?: number, askedAt?: number): Promise<ClaimAnswer>;
  /** Extends leases that still hold: they last one lease from now. */
  renew(leases: readonly HeldLease[]): Promise<Renewal>;
  /** Ends a run; a repeated call gets the same answer. With `next`, the answer may carry the next key to run. */
  settle(
    key: ObjectKey,
    token: string,
    outcome: RunOutcome,
    report?: RunReport,
    next?: SlotRequest,
  ): Promise<SettleAnswer>;
  /** Takes back leases that have ended, and dispatches the next keys; `next` is the time until a key may be due. */
  dispatch(): Promise<{ readonly next: Milliseconds | undefined; readonly jobs: readonly ClaimJob[] }>;
  /**
   * Advertises idle slots: due keys are assigned to them. A slot is advertised for the length of the recovery window
   * (`recoveryWindow`), so advertise it again before. Returns the keys that were assigned to the slots before, as their
   * messages may be lost; without cached objects.
   */
  advertise(slots: IdleSlots): Promise<readonly LeasedKey[]>;
  /** Retracts slots; returns the keys that were assigned to them before. */
  retract(slots: IdleSlots): Promise<readonly LeasedKey[]>;
  /**
   * Delivers each key that is assigned to a worker, at once. A message may get lost; then the next `advertise` returns
   * the key.
   */
  receiveAssignments(worker: string, onAssignment: (assigned: LeasedKey) => void): ChannelSubscription;
  /** Jobs that were added at least `minAge` ago and that no claim has used. */
  unclaimedJobs(minAge: Milliseconds): Promise<readonly ClaimJob[]>;
  dispatchAgain(job: ClaimJob): Promise<void>;
  registerWorker(worker: WorkerRegistration): Promise<void>;
  pause(scope: PauseScope, by: string): Promise<readonly ClaimJob[]>;
  resume(scope: PauseScope): Promise<readonly ClaimJob[]>;
  /**
   * The first incarnation: the one in which the ledger began empty. It stays when a server takes over existing data.
   */
  firstIncarnation(): Promise<string>;
  time(): Promise<LedgerTime>;
  count(): Promise<QueueStats>;
  /**
   * Keys for which no run has started since a time, and the present time, both by the ledger's clock. Leaves out keys
   * that are due and have a paused object.
   */
  notRunSince(keys: readonly ObjectKey[], since: number): Promise<NotRun>;
  list(state: ListedState, limit: number, after?: string): Promise<KeyPage>;
  inspect(key: ObjectKey): Promise<{ readonly key: KeyReport; readonly runs: readonly PastRun[] }>;
}

/** Past runs kept per key. */
export const maxPastRuns = 10;
/** How long the last answer and the history of a key are kept after its object is gone. */
export const goneKeyTtl: Milliseconds = 60_000;
/**
 * A job that was added so long ago, and is not used, waits for a free worker, while busy workers take one chained key
 * after another: its key is chained first.
 */
export const overdueJobAge: Milliseconds = 200;
/** The mean run time is stored as an integer, in units of 1 ms / `runTimeUnit`. */
export const runTimeUnit = 16;
/** Characters kept of an error's text. */
export const maxErrorLength = 1_000;
/** Characters kept of a pause's author. */
export const maxPauseAuthorLength = 200;
