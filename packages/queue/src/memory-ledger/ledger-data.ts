import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Given, Offering } from "../ledger.ts";
import type { Backoff, Claim, KeyState, PastRun, Pause, WakeClass } from "../work-queue.ts";
import { type SortedSet, sortedSet } from "./sorted-set.ts";

/**
 * The complete state of a ledger, as plain data: `structuredClone` makes a backup. Times are those of `now`, unless
 * noted.
 */
export interface LedgerData {
  /** The server on which the data were written; undefined before the first call. */
  server: string | undefined;
  /** Changes whenever a server adopts the data. */
  era: string;
  /** The first incarnation: the era in which the ledger began empty. */
  origin: string;
  /** End of the recovery window: no key is claimed before it. Undefined once it is over. */
  claimsFrom: number | undefined;

  readonly entries: Map<ObjectKey, Entry>;
  /** Every key that is not idle, in the set of its state, by the time of that state. */
  readonly states: Readonly<Record<KeyState, SortedSet<ObjectKey>>>;
  /** Failing keys, by when they began to fail. */
  readonly failing: SortedSet<ObjectKey>;
  readonly history: Map<ObjectKey, PastRun[]>;
  /** Keys of objects that are gone, in the order in which they expire, by the clock for expiry. */
  readonly leaving: Map<ObjectKey, Milliseconds>;
  /** Cached objects that runs left, in the order in which they expire, by the clock for expiry. */
  readonly copies: Map<ObjectKey, { readonly copy: string; readonly until: Milliseconds }>;
  /** Lists that runs left, in the same order. */
  readonly lists: Map<ObjectKey, { readonly left: string; readonly until: Milliseconds }>;

  /** Queues of ready keys, one per class and flow, by name; see `turns.ts`. */
  readonly queues: Map<string, Queue>;
  /** Per class, the names of the queues that take turns, the next one first. */
  readonly turns: Readonly<Record<WakeClass, Set<string>>>;
  /** Names of throttled queues, by when they open. */
  readonly shut: SortedSet<string>;
  readonly paused: {
    controller: PauseNote | undefined;
    readonly namespaces: Map<string, PauseNote>;
    readonly objects: Map<ObjectKey, PauseNote>;
  };
  readonly limits: Map<string, Limit>;
  /** Mean run time; see `paceUnit`. */
  pace: number | undefined;
  /** Jobs and assigned or chained keys so far. */
  bells: number;

  offers: OffersData;
  readonly workers: Map<string, { readonly until: number; readonly slots: number; readonly version: number }>;
  /** Slots of all workers, as of the last enlistment. */
  slots: number;
  /** The newest version among the workers. */
  newest: number;
  /** The settings of the newest version. */
  settings: Settings;
}

/** The state of one key. */
export interface Entry {
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
  copy: string | undefined;
  /** The previous run left its object, and no newer version was reported since. */
  left: boolean;
  /** The previous run left lists. */
  listed: boolean;
  /** Deltas of other kinds since the previous run began; `lost` if they cannot all be kept. */
  news: ReadonlySet<string> | "lost";
  /** The era in which the last run reported what it saw; undefined once another run has started. */
  sawIn: string | undefined;

  /** Since when an annotation is known to pause its object. */
  pausedSince: number | undefined;

  /** Failures in a row. */
  fails: number;
  /** Conflicts in a row. */
  conflicts: number;
  /** The end of the backoff window. */
  notBefore: number;
  /** A wake has already run the key early in that window. */
  pierced: boolean;
  why: string | undefined;
  error: string | undefined;
  account: string | undefined;

  /** The run that holds its lease, while it is leased. */
  holder: Holder | undefined;
  /** The state from which the last claimed run started. */
  run: StartedRun;
  /** It was forced during its run. */
  forced: boolean;
  /** When its last run started; 0 before the first. */
  ranAt: number;
  /** The last version above 0 of the function that has run it. */
  ranBy: number;
  /** The era in which a run that may be missing from the data announced itself. */
  announced: string | undefined;
  /** The token of the run that was settled last. */
  settled: string | undefined;
  /** The key that was chained to that run. */
  handed: ObjectKey | undefined;
  /** The number of its job, until a claim uses it. */
  bell: string | undefined;
}

export interface Holder {
  readonly token: string;
  /** The claim as the worker received it; undefined for a run that announced itself. */
  readonly claim: Claim | undefined;
}

export interface StartedRun {
  /** The era in which it was claimed. */
  readonly era?: string | undefined;
  /** The number of wakes at its start: it answers these. */
  readonly answers?: number | undefined;
  readonly class?: WakeClass | undefined;
  readonly uid?: string | undefined;
}

/** The time and the author of a pause. */
export type PauseNote = Omit<Pause, "scope">;

export interface Queue {
  readonly name: string;
  readonly class: WakeClass;
  readonly namespace: string;
  /** Empty if its keys use no named account. */
  readonly account: string;
  readonly keys: SortedSet<ObjectKey>;
}

export interface Limit {
  readonly rate: { readonly every: Milliseconds; readonly burst: number } | undefined;
  /** When the leaky bucket of the rate is empty again. */
  readonly emptyAt: number;
  /** Until when an external server asked to wait. */
  readonly closedUntil: number;
}

export interface OffersData {
  /** Tokens of the advertised slots, by when their offers end. */
  readonly standing: SortedSet<string>;
  readonly by: Map<string, Offer>;
  /** Assigned keys, by slot. */
  readonly given: Map<string, Omit<Given, "slot" | "claim">>;
}

/** The worker that advertises a slot, and when. */
export interface Offer extends Offering {
  readonly version: number;
}

export interface Settings extends Omit<Backoff, "attempts"> {
  readonly attempts: number | undefined;
}

export const blankData = (): LedgerData => ({
  server: undefined,
  era: "",
  origin: "",
  claimsFrom: undefined,
  entries: new Map(),
  states: {
    waits: sortedSet(),
    ready: sortedSet(),
    rung: sortedSet(),
    leased: sortedSet(),
    parked: sortedSet(),
    paused: sortedSet(),
  },
  failing: sortedSet(),
  history: new Map(),
  leaving: new Map(),
  copies: new Map(),
  lists: new Map(),
  queues: new Map(),
  turns: { change: new Set(), listing: new Set(), resync: new Set() },
  shut: sortedSet(),
  paused: { controller: undefined, namespaces: new Map(), objects: new Map() },
  limits: new Map(),
  pace: undefined,
  bells: 0,
  offers: blankOffers(),
  workers: new Map(),
  slots: 1,
  newest: 0,
  settings: { first: 500, longest: 300_000, attempts: undefined },
});

export const blankOffers = (): OffersData => ({ standing: sortedSet(), by: new Map(), given: new Map() });

export function forgetLists(entry: Entry): void {
  entry.listed = false;
  entry.news = new Set();
}

export const blankEntry = (key: ObjectKey): Entry => ({
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
  copy: undefined,
  left: false,
  listed: false,
  news: new Set(),
  sawIn: undefined,
  pausedSince: undefined,
  fails: 0,
  conflicts: 0,
  notBefore: 0,
  pierced: false,
  why: undefined,
  error: undefined,
  account: undefined,
  holder: undefined,
  run: {},
  forced: false,
  ranAt: 0,
  ranBy: 0,
  announced: undefined,
  settled: undefined,
  handed: undefined,
  bell: undefined,
});
