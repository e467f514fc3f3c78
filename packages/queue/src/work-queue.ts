import type { Milliseconds, ObjectKey } from "@drover/controller";

/** Why a key is looked at: an outside change goes before a first listing, and a listing before a resync. */
export type WakeClass = "change" | "listing" | "resync";

/** One thing heard about a key. It says that something is new, never what: the reconcile looks for itself. */
export interface Wake {
  readonly key: ObjectKey;
  /** The watched kind that was heard of, `plural.group`: resourceVersions compare within one kind only. */
  readonly kind: string;
  /** The version heard of; the reconcile that answers this wake reads at least as new a one. */
  readonly resourceVersion: string;
  /** The uid of the key's own object, when the event was about it. Another uid starts the key afresh. */
  readonly uid?: string;
  /** A word for people, such as `Added` or `Modified`; shown by everything that explains why a key ran. */
  readonly reason: string;
  readonly class: WakeClass;
}

/** What a claimer is told about the run that it now owns. */
export interface Claim {
  /** Failures in a row so far. */
  readonly fails: number;
  /** Why the key is due, oldest first, at most 8. */
  readonly reasons: readonly string[];
  /** The most urgent class among the wakes that this run answers. */
  readonly class: WakeClass;
  /** The uid last heard of for this key. */
  readonly uid?: string;
  /** Highest resourceVersion heard of, per watched kind. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Why a key cannot be claimed now. None of these is an error: bells may be lost, doubled or late. */
export type Refusal = "leased" | "parked" | "waiting" | "nothing due";

/**
 * What a run came to; exactly one per run.
 *
 * - `done`: as asked for. Failures are forgotten. With `after`: look again then, or at the next wake.
 * - `wait`: not a failure and not done: look again after that time, or at the next wake. Failures stay as they are.
 * - `retry`: failed. Backoff grows once per window; one wake may pierce the window. `after` replaces the computed window.
 * - `conflict`: somebody else wrote in between: again almost at once; many in a row count as one failure.
 * - `terminal`: parked until any wake but a resync.
 * - `gone`: the object is no more; the ledger forgets the key.
 * - `interrupted`: stopped before its end through no fault of its own: due at once for anybody.
 */
export type Verdict =
  | { readonly kind: "done"; readonly after?: Milliseconds }
  | { readonly kind: "wait"; readonly after: Milliseconds }
  | { readonly kind: "retry"; readonly error: string; readonly after?: Milliseconds }
  | { readonly kind: "conflict" }
  | { readonly kind: "terminal"; readonly error: string }
  | { readonly kind: "gone" }
  | { readonly kind: "interrupted" };

/** One run of one key, held under a lease by this process. */
export interface Run {
  readonly key: ObjectKey;
  /** The fencing epoch: made by the claimer, unique for ever. */
  readonly token: string;
  readonly claim: Claim;
  /** Fires before the lease can end, when the run's time is up, or when the worker must stop now. */
  readonly signal: AbortSignal;
  /** Whether the lease is certainly still ours. To be asked right before every write: a paused process misses timers. */
  held(): boolean;
}

/** How many keys are in which state, at one instant. */
export interface QueueStats {
  /** Should run now: waiting for a free worker. */
  readonly due: number;
  /** How long the longest-waiting due key has waited, ms. */
  readonly oldestDue: Milliseconds;
  /** Will run later: requeueAfter, resync or backoff. */
  readonly scheduled: number;
  readonly running: number;
  readonly parked: number;
}

/** A queue's worker in this process. */
export interface QueueWorker {
  /** Runs under way in this process. */
  active(): number;
  /**
   * Take no new key, let the runs under way end for at most `grace` ms, then fire their signals and settle them as
   * interrupted. Resolves when nothing runs any more; nothing is lost and nothing runs twice.
   */
  drain(grace: Milliseconds): Promise<void>;
}

/** How a worker runs keys. */
export interface WorkOptions {
  readonly concurrency: number;
  /** A run longer than this is aborted and settled as failed. */
  readonly timeout: Milliseconds;
  /** Told of every settled run. For metrics. */
  readonly onSettled?: (run: Run, verdict: Verdict, duration: Milliseconds) => void;
}

/**
 * The work queue of one controller. It keeps keys, never objects.
 *
 * Contract:
 * - a wake is answered by a run that starts after it; wakes of one key fold into one run;
 * - a key never runs twice at once: a run holds a lease, and what a stale lease settles is refused;
 * - what was acknowledged is in Redis: any process may be killed at any time.
 */
export interface WorkQueue {
  readonly controller: string;
  /** Resolves when the wakes are recorded. Retries for as long as Redis is away: the caller is slowed, not lied to. */
  wake(wakes: readonly Wake[]): Promise<void>;
  /** Start running due keys with `handler`, which never throws a verdict away: an error of its own is a `retry`. */
  work(handler: (run: Run) => Promise<Verdict>, options: WorkOptions): QueueWorker;
  /** Rejects when Redis does not answer within that time: whoever scrapes must not hang. */
  readonly stats: (within: Milliseconds) => Promise<QueueStats>;
  /** Resolves when Redis answers; rejects when it does not within that time. For readiness. */
  ping(within: Milliseconds): Promise<void>;
  close(): Promise<void>;
}
