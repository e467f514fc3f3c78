import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { IdleSlots, LeasedKey } from "../../ledger/ledger.ts";
import type { Backoff, Claim, KeyState, PastRun, Pause, WakeClass } from "../../work-queue/work-queue.ts";
import { type SortedSet, sortedSet } from "./sorted-set.ts";

/**
 * The complete state of a ledger, as plain data: `structuredClone` makes a backup. Times are those of `now`, unless
 * noted.
 */
export interface LedgerData {
  /** The server on which the data were written; undefined before the first call. */
  server: string | undefined;
  /** Changes whenever a server adopts the data. */
  incarnation: string;
  /** The first incarnation: the one in which the ledger began empty. */
  firstIncarnation: string;
  /** End of the recovery window: no key is claimed before it. Undefined once it is over. */
  claimsFrom: number | undefined;

  readonly entries: Map<ObjectKey, KeyEntry>;
  /** Every key that is not idle, in the set of its state, by the time of that state. */
  readonly states: Readonly<Record<KeyState, SortedSet<ObjectKey>>>;
  /** Failing keys, by when they began to fail. */
  readonly failing: SortedSet<ObjectKey>;
  readonly history: Map<ObjectKey, PastRun[]>;
  /** Keys of objects that are gone, in the order in which they expire, by the clock for expiry. */
  readonly expiring: Map<ObjectKey, Milliseconds>;
  /** Cached objects that runs left, in the order in which they expire, by the clock for expiry. */
  readonly cachedObjects: Map<ObjectKey, { readonly cachedObject: string; readonly until: Milliseconds }>;
  /** Lists that runs left, in the same order. */
  readonly cachedLists: Map<
    ObjectKey,
    { readonly stored: string; readonly seen: readonly string[]; readonly until: Milliseconds }
  >;

  /** Queues of ready keys, one per class and flow, by name; see `turns.ts`. */
  readonly queues: Map<string, FlowQueue>;
  /** Per class, the names of the queues that take turns, the next one first. */
  readonly turns: Readonly<Record<WakeClass, Set<string>>>;
  /** Names of throttled queues, by when they open. */
  readonly throttled: SortedSet<string>;
  readonly paused: {
    controller: PauseNote | undefined;
    readonly namespaces: Map<string, PauseNote>;
    readonly objects: Map<ObjectKey, PauseNote>;
  };
  readonly limits: Map<string, RateLimit>;
  /** Mean run time; see `runTimeUnit`. */
  meanRunTime: number | undefined;
  /** Jobs and assigned or chained keys so far. */
  dispatchCount: number;

  advertisedSlots: AdvertisedSlots;
  readonly workers: Map<string, { readonly until: number; readonly slots: number; readonly version: number }>;
  /** Slots of all workers, as of the last registration. */
  slots: number;
  /** The newest version among the workers. */
  newestVersion: number;
  /** The settings of the newest version. */
  settings: QueueSettings;
}

/** The state of one key. */
export interface KeyEntry {
  readonly key: ObjectKey;
  /** Undefined when the key is idle. */
  state: KeyState | undefined;
  /** Until when it waits or is leased, or since when it is ready, dispatched, parked or paused; 0 when it is idle. */
  at: number;
  /** The queue in which it is, while it is ready. */
  queue: string | undefined;

  /** Number of wakes. */
  wakes: number;
  class: WakeClass | undefined;
  reasons: string[];
  trace: string | undefined;
  uid: string | undefined;
  replaced: string | undefined;
  readonly versions: Map<string, string>;
  /** The key's own object, as JSON, from its newest wake; for the run that is due. */
  cachedObject: string | undefined;
  /** The previous run left its object, and no newer version was reported since. */
  hasLeftObject: boolean;
  /** The previous run left lists. */
  hasLeftLists: boolean;
  /** Deltas of other kinds since the previous run began; `lost` if they cannot all be kept. */
  deltas: ReadonlySet<string> | "lost";
  /**
   * The incarnation in which the last run reported the version that it observed; undefined once another run has
   * started.
   */
  observedIn: string | undefined;
  /** The object was created after every run that the data did not contain in the incarnation of `observedIn`. */
  isNew: boolean;

  /** Since when an annotation is known to pause its object. */
  pausedSince: number | undefined;

  /** Failures in a row. */
  fails: number;
  /** Conflicts in a row. */
  conflicts: number;
  /** The end of the backoff window. */
  notBefore: number;
  /** A wake has already run the key early in that window. */
  earlyRunUsed: boolean;
  why: string | undefined;
  error: string | undefined;
  account: string | undefined;

  /** The run that holds its lease, while it is leased. */
  holder: LeaseHolder | undefined;
  /** The state from which the last claimed run started. */
  startedRun: StartedRun;
  /** It was forced during its run. */
  forced: boolean;
  /** The time at which the wakes during its run make it due; undefined if there were none. */
  wokenFor: number | undefined;
  /** When its last run started; 0 before the first. */
  ranAt: number;
  /** The last version above 0 of the function that has run it. */
  ranVersion: number;
  /** The incarnation in which a run that may be missing from the data announced itself. */
  announcedIn: string | undefined;
  /** The token of the run that was settled last. */
  lastSettled: string | undefined;
  /** The key that was chained to that run. */
  chained: ObjectKey | undefined;
  /** The number of its job, until a claim uses it. */
  jobNumber: string | undefined;
}

export interface LeaseHolder {
  readonly token: string;
  /** The claim as the worker received it; undefined for a run that announced itself. */
  readonly claim: Claim | undefined;
}

export interface StartedRun {
  /** The incarnation in which it was claimed. */
  readonly incarnation?: string | undefined;
  /** The number of wakes at its start: it answers these. */
  readonly answeredWakes?: number | undefined;
  readonly class?: WakeClass | undefined;
  readonly uid?: string | undefined;
}

/** The time and the author of a pause. */
export type PauseNote = Omit<Pause, "scope">;

export interface FlowQueue {
  readonly name: string;
  readonly class: WakeClass;
  readonly namespace: string;
  /** Empty if its keys use no named account. */
  readonly account: string;
  readonly keys: SortedSet<ObjectKey>;
}

export interface RateLimit {
  readonly rate: { readonly every: Milliseconds; readonly burst: number } | undefined;
  /** When the leaky bucket of the rate is empty again. */
  readonly emptyAt: number;
  /** Until when an external server asked to wait. */
  readonly throttledUntil: number;
}

export interface AdvertisedSlots {
  /** Tokens of the advertised slots, by when their advertisements expire. */
  readonly byExpiry: SortedSet<string>;
  readonly advertisements: Map<string, Advertisement>;
  /** Assigned keys, by slot. */
  readonly assignments: Map<string, Omit<LeasedKey, "slot" | "claim" | "arrival">>;
}

/** The worker that advertises a slot, and when. */
export type Advertisement = Omit<IdleSlots, "tokens">;

export interface QueueSettings extends Omit<Backoff, "attempts"> {
  readonly attempts: number | undefined;
}

export const blankData = (): LedgerData => ({
  server: undefined,
  incarnation: "",
  firstIncarnation: "",
  claimsFrom: undefined,
  entries: new Map(),
  states: {
    waits: sortedSet(),
    ready: sortedSet(),
    dispatched: sortedSet(),
    leased: sortedSet(),
    parked: sortedSet(),
    paused: sortedSet(),
  },
  failing: sortedSet(),
  history: new Map(),
  expiring: new Map(),
  cachedObjects: new Map(),
  cachedLists: new Map(),
  queues: new Map(),
  turns: { change: new Set(), listing: new Set(), resync: new Set() },
  throttled: sortedSet(),
  paused: { controller: undefined, namespaces: new Map(), objects: new Map() },
  limits: new Map(),
  meanRunTime: undefined,
  dispatchCount: 0,
  advertisedSlots: blankAdvertisedSlots(),
  workers: new Map(),
  slots: 1,
  newestVersion: 0,
  settings: { first: 500, longest: 300_000, attempts: undefined },
});

export const blankAdvertisedSlots = (): AdvertisedSlots => ({
  byExpiry: sortedSet(),
  advertisements: new Map(),
  assignments: new Map(),
});

export function dropLists(entry: KeyEntry): void {
  entry.hasLeftLists = false;
  entry.deltas = new Set();
}

/** True if a run has seen the object in the state of this delta. @param seen the beginnings of such deltas. */
export const isSeen = (seen: readonly string[] = [], delta: string): boolean =>
  seen.some((beginning) => delta.startsWith(beginning));

export const blankEntry = (key: ObjectKey): KeyEntry => ({
  key,
  state: undefined,
  at: 0,
  queue: undefined,
  wakes: 0,
  class: undefined,
  reasons: [],
  trace: undefined,
  uid: undefined,
  replaced: undefined,
  versions: new Map(),
  cachedObject: undefined,
  hasLeftObject: false,
  hasLeftLists: false,
  deltas: new Set(),
  observedIn: undefined,
  isNew: false,
  pausedSince: undefined,
  fails: 0,
  conflicts: 0,
  notBefore: 0,
  earlyRunUsed: false,
  why: undefined,
  error: undefined,
  account: undefined,
  holder: undefined,
  startedRun: {},
  forced: false,
  wokenFor: undefined,
  ranAt: 0,
  ranVersion: 0,
  announcedIn: undefined,
  lastSettled: undefined,
  chained: undefined,
  jobNumber: undefined,
});
