import type { Milliseconds } from "@drover/controller";
import type { Failure } from "./failure.ts";
import { type Listing, startListing } from "./listing.ts";
import { type ResourceVersion, versionOrder } from "./resource-version.ts";

/** What a stream knows of itself between two steps. */
export interface StreamState {
  readonly phase: Phase;
  /** A watch resumes after this version; everything up to it was told. */
  readonly position: ResourceVersion | undefined;
  /** A listing was told to its end, or a position was given to begin with. */
  readonly synced: boolean;
  /** It is known to be able to go on from its position: a listing gave it, or a watch went on from there. */
  readonly following: boolean;
  /** Failures since the last progress: what makes waits grow. */
  readonly failures: number;
  /** Those of them that a retry seldom mends: their own waits grow with these alone. */
  readonly doubts: number;
  /** Watches in a row that told nothing new, and whose resuming may be to blame. */
  readonly barren: number;
  /** Listings in a row that were older than the position. */
  readonly stale: number;
  /** The server streams listings, as far as is known. */
  readonly streamsLists: boolean;
  /** Streamed listings in a row that began, and did not come to their end. */
  readonly unfinished: number;
  /** When a listing or a watch was last asked for. */
  readonly askedAt: Milliseconds;
  /**
   * A watch fell silent and no event came since: ask for short ones, which the server ends in good order before they
   * count as silent. kube-apiserver sends a bookmark a minute at most, a little too late for our patience, and none
   * at all while a kind does not change; but two seconds before a watch's end, where there is anything to say.
   */
  readonly quiet: boolean;
  /** Set while somebody must act. */
  readonly degraded: Failure | undefined;
  readonly lastFailure: Failure | undefined;
  readonly relists: number;
  readonly reconnects: number;
  /** How often what was told is compared with a listing; and when that was last done, or began to be of use. */
  readonly compareEvery: Milliseconds;
  readonly comparedAt: Milliseconds | undefined;
  readonly comparisons: number;
}

export type Phase =
  | { readonly name: "idle" }
  | { readonly name: "listing"; readonly listing: Listing }
  | { readonly name: "opening" }
  | { readonly name: "watching"; readonly since: Milliseconds; readonly progressed: boolean }
  | { readonly name: "waiting"; readonly next: Next };

export type Next = { readonly list: Listing } | "watch";

/** When a step is taken: a monotonic clock, and a number from 0 to 1. */
export interface Moment {
  readonly now: Milliseconds;
  readonly random: number;
}

/** A watch that lived this long was well, though it told nothing. */
const healthyAfter: Milliseconds = 10_000;
/** After so many streamed listings in a row that broke off it is pages, which go on where they broke off. */
export const mostUnfinished = 2;

/** What a stream begins with. */
export interface Beginning {
  /** Everything up to this version was told before. */
  readonly position?: ResourceVersion | undefined;
  /** To everybody who listens: the stream resumes there. Else it lists, no older a state than that. */
  readonly toldToAll?: boolean;
  readonly compareEvery?: Milliseconds;
  /** False: list in pages. Default: only where the server cannot stream a listing. */
  readonly streamsLists?: boolean;
}

/** Default of `compareEvery`. An API server remembers the last five minutes; a comparison costs a whole listing. */
const comparedEvery: Milliseconds = 30 * 60_000;

export const newStream = ({
  position,
  toldToAll = position !== undefined,
  compareEvery = comparedEvery,
  streamsLists = true,
}: Beginning = {}): StreamState => ({
  phase: { name: "idle" },
  position,
  synced: toldToAll,
  following: false,
  compareEvery,
  comparedAt: undefined,
  comparisons: 0,
  failures: 0,
  doubts: 0,
  barren: 0,
  stale: 0,
  streamsLists,
  unfinished: 0,
  askedAt: -Infinity,
  quiet: false,
  degraded: undefined,
  lastFailure: undefined,
  relists: 0,
  reconnects: 0,
});

/** A stream that has just asked for what its last step said, which may have taken long to be told. */
export const askedNow = (state: StreamState, now: Milliseconds): StreamState => ({ ...state, askedAt: now });

/** The state at a newer version; the same state at an older one. Progress forgives what failed before. */
export function advanced(state: StreamState, version: ResourceVersion): StreamState {
  const order = state.position === undefined ? "newer" : versionOrder(version, state.position);
  if (order === "older" || order === "same") return state;
  const phase = state.phase.name === "watching" ? { ...state.phase, progressed: true } : state.phase;
  return { ...well(state), phase, position: version, following: true };
}

/** The state once a listing of this version is whole. */
export const listedUpTo = (state: StreamState, version: ResourceVersion, moment: Moment): StreamState => ({
  ...compared(state, moment),
  position: version,
  synced: true,
  following: true,
  stale: 0,
  unfinished: 0,
  degraded: undefined,
});

export const isOlderThanTold = ({ position }: StreamState, version: ResourceVersion): boolean =>
  position !== undefined && versionOrder(version, position) === "older";

export const compared = (state: StreamState, { now }: Moment): StreamState => ({
  ...state,
  comparedAt: now,
  comparisons: state.comparisons + 1,
});

/** Comparisons are made between two watches: nothing is told meanwhile, so that what differs was missed. */
export const isComparisonDue = (state: StreamState, { now }: Moment): boolean =>
  state.position !== undefined && now - (state.comparedAt ?? now) >= nearly(state.compareEvery);

/**
 * No watch is asked for longer than until the next comparison. The server's clock starts before ours: a watch that
 * lasts as long as it was asked to seems a little shorter, and one that begins with a listing, a lot.
 */
const nearly = (span: Milliseconds): Milliseconds => span * 0.8;

export const well = (state: StreamState): StreamState => ({
  ...state,
  failures: 0,
  doubts: 0,
  barren: 0,
});

export const wasWell = ({ phase, compareEvery }: StreamState, { now }: Moment): boolean =>
  phase.name === "watching" &&
  (phase.progressed || now - phase.since >= Math.min(healthyAfter, nearly(compareEvery)));

export const listingOf = ({ phase }: StreamState): Listing =>
  phase.name === "listing" ? phase.listing : startListing;

/** How a listing is asked for: one that begins now is streamed where that is likely to come to its end. */
export const begun = ({ streamsLists, unfinished }: StreamState, listing: Listing): Listing =>
  listing.exact === undefined && listing.pages === 0
    ? { ...listing, streamed: streamsLists && unfinished < mostUnfinished }
    : listing;
