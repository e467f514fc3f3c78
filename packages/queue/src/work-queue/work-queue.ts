import type { Limits, Milliseconds, ObjectKey } from "@drover/controller";

/** Why a key runs, the most urgent first: a change goes before a first listing, and a listing before a resync. */
export type WakeClass = "change" | "listing" | "resync";

/** A reason to reconcile a key. Contains the object itself only if the run may skip the live read. */
export interface Wake {
  readonly key: ObjectKey;
  /** The watched kind of the changed object, `plural.group`: resourceVersions are comparable within one kind only. */
  readonly kind: string;
  /** The version of the change. The run that answers this wake reads a version at least as new. */
  readonly resourceVersion: string;
  /**
   * The uid of the key's own object, if the change is of that object. A new uid clears failures, parking and timers.
   */
  readonly uid?: string;
  /** A word for people, such as `Added` or `Modified`, shown wherever it is explained why a key ran. */
  readonly reason: string;
  readonly class: WakeClass;
  /**
   * True if the key's own object has the annotation that pauses it, at that version. Left out: unknown, nothing
   * changes.
   */
  readonly paused?: boolean;
  /** A `traceparent` for the run that answers this wake. */
  readonly trace?: string;
  /** The key's own object at that version, as JSON, for the run that answers this wake. Requires `uid`. */
  readonly cachedObject?: string;
  /**
   * The change of an object of another kind, if lists of that kind are cached between runs; as JSON. Empty if the
   * change cannot be expressed: the key's cached lists are then dropped.
   */
  readonly delta?: string;
  /** The version was current at some time after this one: a list made since contains it, or it was written since. */
  readonly newestAfter?: QueueTime;
  /**
   * The time to wait for further wakes before the key runs, in whole ms. A key that is due earlier runs then, and its run
   * answers this wake, too. Left out: no time.
   */
  readonly after?: number;
  /** True if the key's own object was created at that version. Counts only together with `newestAfter`. */
  readonly created?: true;
}

/** A time in an incarnation of a queue's data. No run that the data do not contain can write after it. */
export interface QueueTime {
  readonly incarnation: string;
  /** Redis time, ms. */
  readonly at: number;
}

/** A version of a key's own object that a run has read or written. */
export interface ObservedVersion {
  /** `plural.group`. */
  readonly kind: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The object at that version, as JSON, to be kept for a run that may follow soon. */
  readonly cachedObject?: string;
  /** The run's lists of other kinds, as JSON, to be kept as well. Wakes add the changes since (`Wake.delta`). */
  readonly cachedLists?: string;
  /**
   * Beginnings of `Wake.delta`, up to the object: the lists have the objects in these versions, and the run has acted on
   * them. While the lists are kept, such a change causes no run. Counts for the outcome `done`.
   */
  readonly seen?: readonly string[];
  /** How long all are kept, ms. Default: `cachedObjectTtl`. */
  readonly keepFor?: Milliseconds;
}

/** The data of a claimed run, for the worker that owns it. */
export interface Claim {
  /** Failures in a row so far. */
  readonly fails: number;
  /** Why the key is due, oldest first, at most 8. */
  readonly reasons: readonly string[];
  /** The most urgent class among the wakes that this run answers. */
  readonly class: WakeClass;
  /** The uid of the key's object at its newest known version. */
  readonly uid?: string | undefined;
  /** The first uid that was replaced since the last success: the object was deleted and created again. */
  readonly replaced?: string | undefined;
  readonly trace?: string | undefined;
  /** Highest resourceVersion per watched kind, in a wake or reported by a run. */
  readonly versions: Readonly<Record<string, string>>;
  /** True if no run of the object has begun before. Left out: that is not known. */
  readonly isFirst?: true | undefined;
  /**
   * The key's own object, as JSON, from a wake or from the run before. It is at least as new as every version
   * in a wake, and every version that earlier runs have read or written. Left out: the run reads the object live.
   */
  readonly cachedObject?: string | undefined;
  /**
   * The lists that the run before has left, and all changes (`Wake.delta`) since it began. Left out: the run lists live.
   */
  readonly cachedLists?: { readonly stored: string; readonly deltas: readonly string[] } | undefined;
}

/** Why a key cannot be claimed now. None of these is an error: jobs may be lost, duplicate or late. */
export type ClaimRefusal = (typeof claimRefusals)[number];
export const claimRefusals = [
  "leased",
  "parked",
  "waiting",
  "nothing due",
  /** Ready; it is assigned, or another job is added, when its turn comes. */
  "not its turn",
  "paused",
  /** The slot of the claim had been advertised, and was assigned a key before. */
  "slot taken",
  /** Its account has to wait. */
  "throttled",
  /**
   * A newer version of the function has run the key and is alive: during a roll-out no key goes back to an older one.
   */
  "outdated",
  /** Redis was restarted or replaced a moment ago: runs in progress announce themselves before a new one starts. */
  "recovering",
] as const;

/**
 * The outcome of a run; exactly one per run.
 *
 * - `done`: success. Resets failures. With `after`: run again after that time, or at the next wake.
 * - `wait`: neither success nor failure. Run again after that time, or at the next wake. Failures stay.
 * - `retry`: failure. Backoff grows once per window; one wake may end the window early. `after` replaces the computed
 *   window.
 * - `conflict`: another client wrote in between. Run again almost at once; nine in a row count as one failure.
 * - `terminal`: parked until a wake other than a resync.
 * - `paused`: the object's annotation pauses it. The run did nothing; the key is due once the object is resumed.
 * - `gone`: the object does not exist; the ledger forgets the key.
 * - `interrupted`: stopped before its end through no fault of its own. Due at once, for any worker.
 * - `throttled`: a named account has to wait (a 429). Not a failure. No key of that account runs until `after` is over,
 *   woken or not; other keys go on.
 *
 * `account` is the account with the limits that apply to the run; the queue stores it per key.
 *
 * `observed` is the newest version of the key's own object that the run has read or written. Left out if the run may
 * have written a newer one: then no later run gets a cached object until a run reports `observed` again.
 */
export type RunOutcome = { readonly observed?: ObservedVersion } & (
  | { readonly kind: "done"; readonly after?: Milliseconds; readonly account?: string }
  | { readonly kind: "wait"; readonly after: Milliseconds }
  | {
      readonly kind: "retry";
      readonly error: string;
      readonly after?: Milliseconds;
      readonly account?: string;
    }
  | { readonly kind: "throttled"; readonly account: string; readonly after: Milliseconds }
  | { readonly kind: "conflict" }
  | { readonly kind: "terminal"; readonly error: string }
  | { readonly kind: "paused" }
  | { readonly kind: "gone" }
  | { readonly kind: "interrupted" }
);

/** All kinds of outcomes, for schemas. */
export const outcomeKinds = [
  ...(["done", "wait", "retry", "throttled", "conflict"] as const),
  ...(["terminal", "paused", "gone", "interrupted"] as const),
] satisfies readonly RunOutcome["kind"][];

/** One run of one key, under a lease that this process holds. */
export interface Run {
  readonly key: ObjectKey;
  /** The fencing token: made by the claimer, never used twice. */
  readonly token: string;
  readonly claim: Claim;
  /** Fires before the lease can end, when the run's time is up, or when the worker must stop now. */
  readonly signal: AbortSignal;
  /**
   * True if the run certainly still holds its lease. To be called right before every write: a paused process misses
   * timers. False if the ledger has not answered for longer than the recovery window: a server that replaced Redis may
   * have assigned the key again by then.
   */
  hasLease(): boolean;
}

/** The scope of a pause: the controller, a namespace, or one object. A pause holds deletions, too. */
export type PauseScope =
  | { readonly kind: "controller" }
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "object"; readonly key: ObjectKey };

/**
 * The state of a key. `ready` keys wait for their turn, `dispatched` ones have a job that waits for a free worker,
 * `waits` ones wait for a time. `paused` keys are due, but their object is paused; keys of a paused namespace or controller are
 * `ready`.
 */
export type KeyState = "waits" | "ready" | "dispatched" | "leased" | "parked" | "paused";

/** A state that keys are listed by. `failing` keys had a failed last run, and are in any of the other states. */
export type ListedState = KeyState | "failing";

/** A pause that holds a key. */
export interface Pause {
  readonly scope: PauseScope["kind"] | "annotation";
  /** Redis time, ms. */
  readonly since: number;
  /** The author that was passed to `pause`; empty for an annotation. */
  readonly by: string;
}

/** One page of a list of keys. */
export interface KeyPage {
  readonly keys: readonly KeyReport[];
  /** To be passed as `after` for the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/** The queue's data on one key, and why it is not running. Contains nothing of the object's contents. */
export interface KeyReport {
  readonly key: ObjectKey;
  readonly state: KeyState | "idle" | "unknown";
  /**
   * Redis time in ms: until when it waits or is leased; since when it is ready, dispatched, paused or parked; 0 if idle.
   */
  readonly at: number;
  readonly class?: WakeClass | undefined;
  /** Why it is due, oldest first. */
  readonly reasons: readonly string[];
  /** A word for why it waits or is parked, such as `backoff`, `again`, `batch`, `lease ended`. */
  readonly why?: string | undefined;
  /** The message of its last failure. */
  readonly error?: string | undefined;
  readonly fails: number;
  readonly uid?: string | undefined;
  readonly account?: string | undefined;
  /** Redis time until which its account is throttled, ms. */
  readonly accountOpens: number;
  /** The pauses that hold it, the widest scope first; empty if none does. */
  readonly pauses: readonly Pause[];
}

/** One run in the history of a key. */
export interface PastRun {
  /** When it ended, ISO 8601, by the clock of the ledger's server. */
  readonly at: string;
  readonly trigger: readonly string[];
  readonly duration: Milliseconds;
  readonly verdict: RunOutcome["kind"];
  readonly error?: string | undefined;
  readonly trace?: string | undefined;
}

/** How many keys are in which state, at one instant. */
export interface QueueStats {
  /** Keys that should run now and are not paused: they wait for a free worker. */
  readonly due: number;
  /** How long the oldest of these has been due, ms. */
  readonly oldestDue: Milliseconds;
  /** Keys that will run later: requeueAfter, resync or backoff. */
  readonly scheduled: number;
  readonly running: number;
  readonly parked: number;
  /** Keys with a last run that failed, or ended with its worker. They are also counted in one of the other figures. */
  readonly failing: number;
  /** How long runs take at present, ms: a mean in which the last 8 count most. 0 before the first. */
  readonly runTime: Milliseconds;
  /** Keys that would be due, but are paused: the object, its namespace, or the controller. */
  readonly paused: number;
  /** The controller is paused: no due key will run. */
  readonly allPaused: boolean;
}

/** A queue's worker in this process. */
export interface QueueWorker {
  /** Number of runs in progress in this process. */
  active(): number;
  /**
   * Takes no new key, lets the runs in progress end for at most `grace` ms, then fires their signals and settles them
   * as interrupted. Resolves when no run is left; no key is lost and none runs twice.
   */
  drain(grace: Milliseconds): Promise<void>;
}

/** How a key came to its slot: claimed for a job, chained to the run before, or assigned while the slot was idle. */
export type Arrival = "dequeued" | "chained" | "assigned";

/** How a worker runs keys. */
export interface WorkOptions {
  readonly concurrency: number;
  /** A run that takes longer is aborted and settled as failed. */
  readonly timeout: Milliseconds;
  /** Called after every settled run; for metrics. */
  readonly onSettled?: (run: Run, outcome: RunOutcome, duration: Milliseconds, by: Arrival) => void;
  /** Grows with every roll-out: a key that a newer version has run does not go back to an older one. */
  readonly version?: number;
  readonly backoff?: Partial<Backoff>;
  /** Rates at which runs may start, for the controller and per account. Default: unlimited. */
  readonly limits?: Limits;
}

/** How failures are retried. */
export interface Backoff {
  /** The first window; each next one is twice as long. */
  readonly first: Milliseconds;
  /** The longest window. */
  readonly longest: Milliseconds;
  /** After so many failures in a row the key is parked. Default: never, since the cause may go away by itself. */
  readonly attempts: number;
}

/** How long a caller waits for Redis to record its wakes. */
export interface WakeOptions {
  /** False: reject at the first refusal. Default: send refused wakes again, until the queue is closed. */
  readonly retry?: boolean;
  /** Ends the wait. Wakes that are on their way to Redis may still be recorded. */
  readonly signal?: AbortSignal;
}

/**
 * The work queue of one controller. It keeps keys, and objects only in a short-lived cache.
 *
 * Contract:
 * - after a wake a run starts for its key; wakes of one key before that run are merged into it;
 * - a key never runs twice at once: a run holds a lease, and an outcome under a stale lease is refused;
 * - an acknowledged call is recorded in Redis: any process may be killed at any time.
 */
export interface WorkQueue {
  readonly controller: string;
  /**
   * Resolves when the wakes are recorded. By default a wake that Redis refuses is sent again until Redis accepts it.
   * @throws the refusal of Redis, if `options.retry` is false; the reason of `options.signal`, once it fires; an error
   *   once the queue is closed.
   */
  wake(wakes: readonly Wake[], options?: WakeOptions): Promise<void>;
  /** Starts running due keys with `handler`. If it throws, the outcome is `retry` with that error. */
  work(handler: (run: Run) => Promise<RunOutcome>, options: WorkOptions): QueueWorker;
  /** Rejects if Redis does not answer within that time: a scrape of metrics must not hang. */
  readonly stats: (within: Milliseconds) => Promise<QueueStats>;
  /**
   * Returns those of the keys of which no run has started since a time, except keys in the state `paused`. Times are
   * Redis time in ms; `now` is the present one. Runs that start after this call start at `now` or later.
   */
  notRunSince(
    keys: readonly ObjectKey[],
    since: number,
  ): Promise<{ readonly now: number; readonly keys: readonly ObjectKey[] }>;
  /**
   * Runs these keys now, whatever they wait for; a paused one when it is resumed.
   * @param of their class. Default: `change`.
   */
  force(keys: readonly ObjectKey[], of?: WakeClass): Promise<void>;
  /**
   * Runs every key in the ledger once, in the class `listing`, so after changes. For a caller that does not have the
   * keys that changed.
   * @throws as `wake`.
   */
  forceAll(options?: WakeOptions): Promise<void>;
  /** Starts no more runs in a scope; due keys stay due. Runs in progress go on. Reports show `by`, the author. */
  pause(scope: PauseScope, by: string): Promise<void>;
  resume(scope: PauseScope): Promise<void>;
  /**
   * A page of the keys in a state, ordered by time: `limit` keys, at most 1,000, starting after the page before. A key
   * that stays in the state from the first page to the last is in one of them. A key that leaves it or comes back
   * meanwhile may be missing or appear twice.
   */
  list(
    state: ListedState,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<KeyPage>;
  /** One key and its last runs, newest first. */
  inspect(key: ObjectKey): Promise<{ readonly key: KeyReport; readonly runs: readonly PastRun[] }>;
  /**
   * An id of the queue's data. If it changes, wakes may be lost, even if other data in the same Redis, such as the
   * position of a stream, record that they were sent. A failover of a single server does not change it: a position that
   * was written after a wake is lost together with the wake.
   */
  firstIncarnation(): Promise<string>;
  /** The present time, for `newestAfter`. On a server that took over, resolves after its recovery window. */
  time(): Promise<QueueTime>;
  /** Resolves when Redis answers; rejects if it does not within that time. For readiness. */
  ping(within: Milliseconds): Promise<void>;
  close(): Promise<void>;
}
