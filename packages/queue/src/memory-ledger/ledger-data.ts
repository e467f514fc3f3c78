import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { Given, Offering } from "../ledger.ts";
import type { Backoff, Claim, KeyState, PastRun, Pause, WakeClass } from "../work-queue.ts";
import { type SortedSet, sortedSet } from "./sorted-set.ts";

/** All that a ledger remembers, as plain data: `structuredClone` makes a backup of it. Times are those of `now`. */
export interface LedgerData {
  /** The server that it was written on; none before the first call. */
  server: string | undefined;
  /** Another one whenever a server took it over. */
  era: string;
  /** The era in which it began with nothing. */
  origin: string;
  /** Settling: nothing is claimed before that time. Undefined once it is over. */
  claimsFrom: number | undefined;

  readonly entries: Map<ObjectKey, Entry>;
  /** Every key that is not idle, in the one of its state, by the time that goes with it. */
  readonly states: Readonly<Record<KeyState, SortedSet<ObjectKey>>>;
  /** Keys whose last run failed, by since when. */
  readonly failing: SortedSet<ObjectKey>;
  readonly history: Map<ObjectKey, PastRun[]>;
  /** Keys that are gone, in the order of when they will be forgotten, by the clock that forgets. */
  readonly leaving: Map<ObjectKey, Milliseconds>;
  /** Copies that runs have left, in the order of when they are forgotten, by the clock that forgets. */
  readonly copies: Map<ObjectKey, { readonly copy: string; readonly until: Milliseconds }>;
  /** Lists that runs have left, in that order, too. */
  readonly lists: Map<ObjectKey, { readonly left: string; readonly until: Milliseconds }>;

  /** Ready keys of one class and lane each, by name; see `turns.ts`. */
  readonly queues: Map<string, Queue>;
  /** Names of the queues of a class that have something to give, whose turn it is first. */
  readonly turns: Readonly<Record<WakeClass, Set<string>>>;
  /** Names of queues that are passed over, by when they open. */
  readonly shut: SortedSet<string>;
  readonly paused: {
    controller: PauseNote | undefined;
    readonly namespaces: Map<string, PauseNote>;
    readonly objects: Map<ObjectKey, PauseNote>;
  };
  readonly limits: Map<string, Limit>;
  /** How long runs take at present; see `paceUnit`. */
  pace: number | undefined;
  /** Bells rung so far. */
  bells: number;

  offers: OffersData;
  readonly workers: Map<string, { readonly until: number; readonly slots: number; readonly version: number }>;
  /** Of all workers together, as of the last enlistment. */
  slots: number;
  /** The newest version among them. */
  newest: number;
  /** What the newest version asks for. */
  settings: Settings;
}

/** What the ledger knows of one key. */
export interface Entry {
  readonly key: ObjectKey;
  /** Where it stands; nowhere when it is idle. */
  state: KeyState | undefined;
  /** Until when it waits or is leased, or since when it is ready, rung or parked; 0 when it is idle. */
  at: number;
  /** The queue in which it waits for its turn. */
  queue: string | undefined;

  /** Wakes counted. */
  wakes: number;
  class: WakeClass | undefined;
  reasons: string[];
  trace: string | undefined;
  uid: string | undefined;
  replaced: string | undefined;
  readonly versions: Map<string, string>;
  /** The key's own object, as JSON, as heard of last; for the run that is due. */
  copy: string | undefined;
  /** The run before has left one, and nothing newer was heard. */
  left: boolean;
  /** The run before has left lists. */
  listed: boolean;
  /** What was told of other kinds since the run before began; lost, where it cannot all be kept. */
  news: ReadonlySet<string> | "lost";
  /** The era in which the last run told what it saw, since when none has started. */
  sawIn: string | undefined;

  /** Since when its object is known to be paused by its annotation. */
  pausedSince: number | undefined;

  /** Failures in a row. */
  fails: number;
  /** Conflicts in a row. */
  conflicts: number;
  /** The end of the backoff window. */
  notBefore: number;
  /** A wake has pierced that window. */
  pierced: boolean;
  why: string | undefined;
  error: string | undefined;
  account: string | undefined;

  /** Who runs it, while it is leased. */
  holder: Holder | undefined;
  /** What the last run that was claimed started from. */
  run: StartedRun;
  /** Somebody wants it now, though it runs. */
  forced: boolean;
  /** When its last run started; 0 before the first. */
  ranAt: number;
  /** The newest version of the function that has run it. */
  ranBy: number;
  /** The era in which a run announced itself that the ledger may not have known of. */
  announced: string | undefined;
  /** The token that was settled last. */
  settled: string | undefined;
  /** The key that was handed to whoever settled it. */
  handed: ObjectKey | undefined;
  /** The number of its bell, as far as nobody has answered it. */
  bell: string | undefined;
}

export interface Holder {
  readonly token: string;
  /** What the claimer was told; unknown of a run that announced itself. */
  readonly claim: Claim | undefined;
}

export interface StartedRun {
  /** The era that it was claimed in. */
  readonly era?: string | undefined;
  /** The wakes that it answers. */
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
  /** Empty where its keys work on no named account. */
  readonly account: string;
  readonly keys: SortedSet<ObjectKey>;
}

export interface Limit {
  readonly rate: { readonly every: Milliseconds; readonly burst: number } | undefined;
  /** When the leaky bucket of the rate is empty again. */
  readonly emptyAt: number;
  /** Until when a server asked us to wait. */
  readonly closedUntil: number;
}

export interface OffersData {
  /** Tokens of the slots that are offered, by when their offers end. */
  readonly standing: SortedSet<string>;
  readonly by: Map<string, Offer>;
  /** What was given, by slot. */
  readonly given: Map<string, Omit<Given, "slot" | "claim">>;
}

/** Who offers a slot, and when. */
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
