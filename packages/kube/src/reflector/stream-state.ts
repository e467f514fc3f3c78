import type { Milliseconds } from "@drover/controller";
import type { Failure } from "./failure.ts";
import { type ListProgress, listStart } from "./list-progress.ts";
import { type ResourceVersion, versionOrder } from "../objects/kube-object.ts";

/** The state of a stream between two steps. */
export interface StreamState {
  readonly phase: Phase;
  /** All changes up to this version were emitted. A watch resumes after it. */
  readonly position: ResourceVersion | undefined;
  /** A list was emitted completely, or the stream began at a position that was emitted to all subscribers. */
  readonly synced: boolean;
  /** It is certain that the stream can continue from its position: a list returned it, or a watch continued from it. */
  readonly following: boolean;
  /** Failures since the last progress; the waits grow with them. */
  readonly failures: number;
  /**
   * The `doubtful` and `expired` ones among them. A retry seldom cures these; their waits grow with this number alone.
   */
  readonly doubts: number;
  /** Watches in a row without progress, perhaps because of the position from which they resumed. */
  readonly fruitlessWatches: number;
  /** Lists in a row that were older than the position. */
  readonly stale: number;
  /** False once the server has turned out not to stream lists. */
  readonly streamsLists: boolean;
  /** Streamed lists in a row that began and were not completed. */
  readonly unfinished: number;
  /** When a list or a watch was last requested. */
  readonly askedAt: Milliseconds;
  /**
   * A watch became silent and no event has come since. Watches are then requested for a short time, so that the server
   * ends them normally before they count as silent. kube-apiserver sends a bookmark at most once a minute, slightly
   * later than our limit of silence, and none while a kind does not change. But it sends one two seconds before the end
   * of a watch, if there is anything to report.
   */
  readonly quiet: boolean;
  /** Set while an operator has to act. */
  readonly degraded: Failure | undefined;
  readonly lastFailure: Failure | undefined;
  readonly relists: number;
  readonly reconnects: number;
  /** Interval of the comparisons with a list, and the time of the last one (at first: of the start). */
  readonly compareEvery: Milliseconds;
  readonly comparedAt: Milliseconds | undefined;
  readonly comparisons: number;
}

export type Phase =
  | { readonly name: "idle" }
  | { readonly name: "listing"; readonly listing: ListProgress }
  | { readonly name: "opening" }
  | { readonly name: "watching"; readonly since: Milliseconds; readonly progressed: boolean }
  | { readonly name: "waiting"; readonly next: Next };

export type Next = { readonly list: ListProgress } | "watch";

/** The time of a step, by a monotonic clock, and a random number from 0 to 1. */
export interface StepTime {
  readonly now: Milliseconds;
  readonly random: number;
}

/** A watch that was open for this time was healthy, even without an event. */
const healthyAfter: Milliseconds = 10_000;
/** After this number of unfinished streamed lists in a row, list in pages: these resume after an interruption. */
export const mostUnfinished = 2;

/** The state in which a stream begins. */
export interface StreamStart {
  /** All changes up to this version were emitted before. */
  readonly position?: ResourceVersion | undefined;
  /** If true, to all current subscribers: the stream resumes there. Otherwise it lists a state no older than that. */
  readonly emittedToAll?: boolean;
  readonly compareEvery?: Milliseconds;
  /** If false, list in pages. Default: pages only if the server cannot stream a list. */
  readonly streamsLists?: boolean;
}

/** Default of `compareEvery`. An API server keeps the history of five minutes; a comparison costs a complete list. */
const comparedEvery: Milliseconds = 30 * 60_000;

export const newStream = ({
  position,
  emittedToAll = position !== undefined,
  compareEvery = comparedEvery,
  streamsLists = true,
}: StreamStart = {}): StreamState => ({
  phase: { name: "idle" },
  position,
  synced: emittedToAll,
  following: false,
  compareEvery,
  comparedAt: undefined,
  comparisons: 0,
  failures: 0,
  doubts: 0,
  fruitlessWatches: 0,
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

/** Sets the time of the request that the last step asked for: emitting the step's events may have taken long. */
export const withRequestTime = (state: StreamState, now: Milliseconds): StreamState => ({
  ...state,
  askedAt: now,
});

/** The state at a newer version; the same state for an older one. Progress resets the counts of failures. */
export function advanced(state: StreamState, version: ResourceVersion): StreamState {
  const order = state.position === undefined ? "newer" : versionOrder(version, state.position);
  if (order === "older" || order === "same") return state;
  const phase = state.phase.name === "watching" ? { ...state.phase, progressed: true } : state.phase;
  return { ...afterProgress(state), phase, position: version, following: true };
}

/** The state after a complete list of this version. */
export const listedUpTo = (state: StreamState, version: ResourceVersion, moment: StepTime): StreamState => ({
  ...afterComparison(state, moment),
  position: version,
  synced: true,
  following: true,
  stale: 0,
  unfinished: 0,
  degraded: undefined,
});

export const isBeforePosition = ({ position }: StreamState, version: ResourceVersion): boolean =>
  position !== undefined && versionOrder(version, position) === "older";

export const afterComparison = (state: StreamState, { now }: StepTime): StreamState => ({
  ...state,
  comparedAt: now,
  comparisons: state.comparisons + 1,
});

/** Comparisons are made between two watches: nothing is emitted meanwhile, so the watch missed every difference. */
export const isComparisonDue = (state: StreamState, { now }: StepTime): boolean =>
  state.position !== undefined && now - (state.comparedAt ?? now) >= nearly(state.compareEvery);

/**
 * No watch is requested for longer than until the next comparison. The server's clock starts before ours. So a watch
 * that lasts for the requested time appears slightly shorter here, and one that begins with a list much shorter.
 */
const nearly = (span: Milliseconds): Milliseconds => span * 0.8;

export const afterProgress = (state: StreamState): StreamState => ({
  ...state,
  failures: 0,
  doubts: 0,
  fruitlessWatches: 0,
});

export const wasHealthy = ({ phase, compareEvery }: StreamState, { now }: StepTime): boolean =>
  phase.name === "watching" &&
  (phase.progressed || now - phase.since >= Math.min(healthyAfter, nearly(compareEvery)));

export const listingOf = ({ phase }: StreamState): ListProgress =>
  phase.name === "listing" ? phase.listing : listStart;

/** How to request a list. A list that begins now is streamed if it is likely to be completed. */
export const withStreaming = (
  { streamsLists, unfinished }: StreamState,
  listing: ListProgress,
): ListProgress =>
  listing.exact === undefined && listing.pages === 0
    ? { ...listing, streamed: streamsLists && unfinished < mostUnfinished }
    : listing;
