import type { Limits, Milliseconds, ObjectKey } from "@drover/controller";

/** Why a key is looked at: an outside change goes before a first listing, and a listing before a resync. */
export type WakeClass = "change" | "listing" | "resync";

/** One thing heard about a key. It says that something is new, and what only where a run is to be spared the look. */
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
  /**
   * Whether the key's own object has the annotation that pauses it, at that version. Left out: not known, what was known before
   * holds.
   */
  readonly paused?: boolean;
  /** A `traceparent`, for the run that answers this wake. */
  readonly trace?: string;
  /** The key's own object at that version, as JSON, with its `uid` above: for the run that answers this wake. */
  readonly copy?: string;
  /**
   * Of an object of another kind whose lists runs leave: what became of it, as JSON, for who knows of all the others. Empty
   * where that cannot be told: then nobody is given a list.
   */
  readonly news?: string;
  /** The version was the newest one at some time after this moment: a listing since shows it, or it was made since. */
  readonly newestAfter?: QueueMoment;
}

/** A moment of a queue's data after which nothing writes any more that they do not tell of. */
export interface QueueMoment {
  readonly era: string;
  /** Redis time, ms. */
  readonly at: number;
}

/** A version of a key's own object, by the kind's name, `plural.group`. */
export interface Sight {
  readonly kind: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The object at that version, as JSON, to be left for a run that may follow soon. */
  readonly copy?: string;
  /** What the run knows of objects of other kinds, as JSON, to be left as well; from then on wakes tell their news of them. */
  readonly lists?: string;
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
  readonly uid?: string | undefined;
  /** The uid that this one took the place of, since the last success: delete and recreate are two facts. */
  readonly replaced?: string | undefined;
  readonly trace?: string | undefined;
  /** Highest resourceVersion heard of, or seen by a run, per watched kind. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * The key's own object, as JSON, where the wake brought it or the run before left it: no older than what was heard of it,
   * nor than what the runs before have read and written. Left out: whoever runs the key reads it live.
   */
  readonly copy?: string | undefined;
  /** What the run before has left of other kinds, and the news since it began. Left out: whoever runs the key lists live. */
  readonly lists?: { readonly left: string; readonly news: readonly string[] } | undefined;
}

/** Why a key cannot be claimed now. None of these is an error: bells may be lost, doubled or late. */
export type Refusal =
  | "leased"
  | "parked"
  | "waiting"
  | "nothing due"
  /** Ready, and another bell will ring when its turn comes. */
  | "not its turn"
  | "paused"
  /** The slot that its claimer had offered was given another key. */
  | "slot taken"
  /** Its account was asked to wait. */
  | "throttled"
  /** A newer version of the function has run it, and is alive: a key never goes back during a rollout. */
  | "outdated"
  /** Redis was restarted or replaced a moment ago: runs under way announce themselves before anything new starts. */
  | "settling";

/**
 * What a run came to; exactly one per run.
 *
 * - `done`: as asked for. Failures are forgotten. With `after`: look again then, or at the next wake.
 * - `wait`: not a failure and not done: look again after that time, or at the next wake. Failures stay as they are.
 * - `retry`: failed. Backoff grows once per window; one wake may pierce the window. `after` replaces the computed window.
 * - `conflict`: somebody else wrote in between: again almost at once; many in a row count as one failure.
 * - `terminal`: parked until any wake but a resync.
 * - `paused`: the object's annotation pauses it: the run did nothing, and the key is due once the object is resumed.
 * - `gone`: the object is no more; the ledger forgets the key.
 * - `interrupted`: stopped before its end through no fault of its own: due at once for anybody.
 * - `throttled`: a named account is asked to wait (a 429): not a failure. No key of that account runs until `after` is
 *   over, woken or not; other keys go on.
 *
 * `account` names whose limits the run counted against; the queue remembers it per key.
 *
 * `saw` is the newest version of the key's own object that the run has read or written. Left out where there may be a
 * newer one of its own making: then no later run is given a copy before one has told of what it saw.
 */
export type Verdict = { readonly saw?: Sight } & (
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

/** All kinds of verdicts, for schemas. */
export const verdictKinds = [
  ...(["done", "wait", "retry", "throttled", "conflict"] as const),
  ...(["terminal", "paused", "gone", "interrupted"] as const),
] satisfies readonly Verdict["kind"][];

/** One run of one key, held under a lease by this process. */
export interface Run {
  readonly key: ObjectKey;
  /** The fencing epoch: made by the claimer, unique for ever. */
  readonly token: string;
  readonly claim: Claim;
  /** Fires before the lease can end, when the run's time is up, or when the worker must stop now. */
  readonly signal: AbortSignal;
  /**
   * Whether the lease is certainly still ours. To be asked right before every write: a paused process misses timers. It
   * is not while Redis has not been heard of for longer than a replaced one waits before it hands out keys again.
   */
  held(): boolean;
}

/** What can be paused: everything, a namespace, or one object. Pausing holds deletions, too. */
export type Scope =
  | { readonly kind: "controller" }
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "object"; readonly key: ObjectKey };

/**
 * Where a key is. `ready` keys wait for their turn, `rung` ones for a free worker, `waits` for a time, `paused` ones are due, but
 * their object is paused; keys of a paused namespace, or of a paused controller, are `ready`.
 */
export type KeyState = "waits" | "ready" | "rung" | "leased" | "parked" | "paused";

/** What keys are listed by: where they are, or that their last run failed wherever they are. */
export type ListedState = KeyState | "failing";

/** A pause that holds a key. */
export interface Pause {
  readonly scope: Scope["kind"] | "annotation";
  /** Redis time, ms. */
  readonly since: number;
  /** The author that was given to `pause`; empty for an annotation. */
  readonly by: string;
}

/** Some of the keys that are listed. */
export interface KeyPage {
  readonly keys: readonly KeyReport[];
  /** To be given for the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** What the queue knows of one key, and why it is not running. Never what is in the object. */
export interface KeyReport {
  readonly key: ObjectKey;
  readonly state: KeyState | "idle" | "unknown";
  /** Redis time in ms: until when it waits or is leased; since when it is ready, rung, paused or parked; 0 when idle. */
  readonly at: number;
  readonly class?: WakeClass | undefined;
  /** Why it is due, oldest first. */
  readonly reasons: readonly string[];
  /** A word for why it waits or is parked, such as `backoff`, `again`, `lease ended`. */
  readonly why?: string | undefined;
  /** What its last failure said. */
  readonly error?: string | undefined;
  readonly fails: number;
  readonly uid?: string | undefined;
  readonly account?: string | undefined;
  /** Redis time until which its account is closed, ms. */
  readonly accountOpens: number;
  /** What holds it back on purpose: the widest scope first. Empty: nothing does. */
  readonly pauses: readonly Pause[];
}

/** One run as history keeps it. */
export interface PastRun {
  /** When it ended, ISO 8601, by the clock of the ledger's server. */
  readonly at: string;
  readonly trigger: readonly string[];
  readonly duration: Milliseconds;
  readonly verdict: Verdict["kind"];
  readonly error?: string | undefined;
  readonly trace?: string | undefined;
}

/** How many keys are in which state, at one instant. */
export interface QueueStats {
  /** Should run now, and is not paused: waiting for a free worker. */
  readonly due: number;
  /** How long the longest-waiting of these has waited, ms. */
  readonly oldestDue: Milliseconds;
  /** Will run later: requeueAfter, resync or backoff. */
  readonly scheduled: number;
  readonly running: number;
  readonly parked: number;
  /** Whose last run failed, or ended with its worker; they wait, are due, or are parked as well. */
  readonly failing: number;
  /** How long runs take at present: a mean in which the last 8 count most. 0 before the first. */
  readonly runTime: Milliseconds;
  /** Would be due, but are paused: by themselves, with their namespace, or all. */
  readonly paused: number;
  /** The whole controller is paused: nothing that is due will run. */
  readonly allPaused: boolean;
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

/** How a key comes to a worker: by a bell, with the verdict on the key before it, or given to a slot that was free. */
export type Arrival = "rung" | "handed" | "given";

/** How a worker runs keys. */
export interface WorkOptions {
  readonly concurrency: number;
  /** A run longer than this is aborted and settled as failed. */
  readonly timeout: Milliseconds;
  /** Told of every settled run. For metrics. */
  readonly onSettled?: (run: Run, verdict: Verdict, duration: Milliseconds, by: Arrival) => void;
  /** Grows with every rollout: a key that a newer version ran does not go back to an older one. */
  readonly version?: number;
  readonly backoff?: Partial<Backoff>;
  /** Runs that may start, for the whole controller and per account; none are limited by default. */
  readonly limits?: Limits;
}

/** How failures are retried. */
export interface Backoff {
  /** The first window; each next one is twice as long. */
  readonly first: Milliseconds;
  /** The longest window. */
  readonly longest: Milliseconds;
  /** After so many failures in a row the key is parked. Never, by default: the world may heal by itself. */
  readonly attempts: number;
}

/** How long a caller waits for Redis to record its wakes. */
export interface WakeOptions {
  /** False: reject with the first refusal. Default: send refused wakes again, until the queue is closed. */
  readonly retry?: boolean;
  /** Ends the wait. Wakes that are on their way to Redis may still be recorded. */
  readonly signal?: AbortSignal;
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
  /**
   * Resolves when the wakes are recorded. By default a wake that Redis refuses is sent again until Redis takes it.
   * @throws what Redis refused it with, where `options.retry` is false; the reason of `options.signal`, once it fires.
   */
  wake(wakes: readonly Wake[], options?: WakeOptions): Promise<void>;
  /** Start running due keys with `handler`, which never throws a verdict away: an error of its own is a `retry`. */
  work(handler: (run: Run) => Promise<Verdict>, options: WorkOptions): QueueWorker;
  /** Rejects when Redis does not answer within that time: whoever scrapes must not hang. */
  readonly stats: (within: Milliseconds) => Promise<QueueStats>;
  /**
   * Which of these keys no run was started of since a time, but for those that are `paused`; `now` is the clock that counts, Redis time in ms. A run that
   * starts after `now` starts at no earlier a time.
   */
  notRunSince(
    keys: readonly ObjectKey[],
    since: number,
  ): Promise<{ readonly now: number; readonly keys: readonly ObjectKey[] }>;
  /**
   * Run these keys now, whatever they wait for; a paused one when it is resumed.
   * @param of how urgent that is. Default: as a change.
   */
  force(keys: readonly ObjectKey[], of?: WakeClass): Promise<void>;
  /**
   * Run every key once that the queue knows of, after what changed: for a caller that cannot say which of them changed.
   * @throws as `wake`.
   */
  forceAll(options?: WakeOptions): Promise<void>;
  /** Start no more runs there; what is due stays due. Runs under way end. `by` is the author, which reports show. */
  pause(scope: Scope, by: string): Promise<void>;
  resume(scope: Scope): Promise<void>;
  /**
   * Keys in a state, by time, `limit` of them and 1,000 at most, from the end of the page before on. A key that stays in the
   * state from the first page to the last is in one of them; one that leaves it or comes back meanwhile may be missed or come
   * twice.
   */
  list(
    state: ListedState,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<KeyPage>;
  /** One key, and its last runs, newest first. */
  inspect(key: ObjectKey): Promise<{ readonly key: KeyReport; readonly runs: readonly PastRun[] }>;
  /**
   * Another one than before, for the same queue: wakes may be lost, also those that something else in the same Redis
   * says were told. On one server a failover is no such case: a position that is written after a wake is lost with it.
   */
  origin(): Promise<string>;
  /** This moment, for `newestAfter`; on a server that took over, once it has settled. */
  moment(): Promise<QueueMoment>;
  /** Resolves when Redis answers; rejects when it does not within that time. For readiness. */
  ping(within: Milliseconds): Promise<void>;
  close(): Promise<void>;
}
