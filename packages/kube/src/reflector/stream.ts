import type { Milliseconds } from "@drover/controller";
import type { KubeObject } from "../kube-object.ts";
import type { ObjectList } from "../reply.ts";
import type { WatchFrame } from "../watch-frames.ts";
import { backoff, longestBackoff, shortestGap } from "./backoff.ts";
import { type Failure, failureOf } from "./failure.ts";
import { type Listing, nextPage, startListing } from "./listing.ts";
import { type ResourceVersion, versionOrder } from "./resource-version.ts";

/**
 * One stream as a state machine: list, watch, and what follows when either breaks. Pure: time and chance are given,
 * what is to be told and done is returned. kube-rs' `watcher` is the model.
 *
 * Guarantees: the position goes back only when the server keeps saying so; a watch resumes at the position; whatever
 * happens, something is done next; no request within a Retry-After; one relist for a 410; at most one reconnect a
 * second.
 */
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

type Next = { readonly list: Listing } | "watch";

export type StreamInput =
  | { readonly type: "started" | "waited" }
  | { readonly type: "page"; readonly page: ObjectList }
  /** The watch's headers came. */
  | { readonly type: "opened" }
  /** What one piece of the watch's body brought. */
  | { readonly type: "frames"; readonly frames: readonly WatchFrame[] }
  /** The server ended the watch in good order. */
  | { readonly type: "closed" }
  /** No byte came for too long. */
  | { readonly type: "silent" }
  | { readonly type: "failed"; readonly failure: Failure };

/** What to tell, in order, before the new state holds. */
export type Telling =
  /** A page of a listing. `believed`: it counts, though it is older than what was told before. */
  | { readonly tell: "listed"; readonly objects: readonly KubeObject[]; readonly believed: boolean }
  /** The listing is whole: what it lacks is gone. `exact`: it is of the position, so the watch should have told. */
  | { readonly tell: "complete"; readonly resourceVersion: ResourceVersion; readonly exact: boolean }
  | { readonly tell: "changed" | "gone"; readonly object: KubeObject }
  | { readonly tell: "position"; readonly resourceVersion: ResourceVersion };

/** What to do next; its outcome is the next input. */
export type Action =
  | { readonly do: "list"; readonly listing: Listing }
  | { readonly do: "watch"; readonly from: ResourceVersion; readonly timeoutSeconds: number }
  | { readonly do: "read" }
  | { readonly do: "wait"; readonly span: Milliseconds };

export interface Step {
  readonly state: StreamState;
  readonly tell: readonly Telling[];
  readonly action: Action;
}

/** When a step is taken: a monotonic clock, and a number from 0 to 1. */
export interface Moment {
  readonly now: Milliseconds;
  readonly random: number;
}

/** A watch that lived this long was well, though it told nothing. */
const healthyAfter: Milliseconds = 10_000;
/** After so many barren watches in a row the position is given up. */
const mostBarren = 5;
/** So many stale listings in a row are believed: etcd was restored. */
const mostStale = 3;

/** What a stream begins with. */
export interface Beginning {
  /** Everything up to this version was told before. */
  readonly position?: ResourceVersion | undefined;
  /** To everybody who listens: the stream resumes there. Else it lists, no older a state than that. */
  readonly toldToAll?: boolean;
  readonly compareEvery?: Milliseconds;
}

/** Default of `compareEvery`. An API server remembers the last five minutes; a comparison costs a whole listing. */
const comparedEvery: Milliseconds = 30 * 60_000;

export const newStream = ({
  position,
  toldToAll = position !== undefined,
  compareEvery = comparedEvery,
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
  askedAt: -Infinity,
  quiet: false,
  degraded: undefined,
  lastFailure: undefined,
  relists: 0,
  reconnects: 0,
});

/** What an input makes of a stream. */
export function step(state: StreamState, input: StreamInput, moment: Moment): Step {
  switch (input.type) {
    case "started": {
      const begun = { ...state, comparedAt: moment.now };
      return proceed(begun, state.synced ? "watch" : { list: startListing }, moment);
    }
    case "waited":
      return proceed(state, state.phase.name === "waiting" ? state.phase.next : "watch", moment);
    case "page":
      return onPage(state, input.page, moment);
    case "opened": {
      const phase: Phase = { name: "watching", since: moment.now, progressed: false };
      return reading({ ...state, phase, degraded: undefined });
    }
    case "frames":
      return onFrames(state, input.frames, moment);
    case "closed":
      if (!wasWell(state, moment)) return onFailure(state, closedAtOnce, moment);
      return isComparisonDue(state, moment)
        ? again(well(state), { list: { ...startListing, exact: state.position } }, 0, moment)
        : again(well(state), "watch", 0, moment);
    case "silent":
      return again({ ...well(state), quiet: true }, "watch", 0, moment);
    case "failed":
      return onFailure(wasWell(state, moment) ? well(state) : state, input.failure, moment);
  }
}

function onPage(state: StreamState, page: ObjectList, moment: Moment): Step {
  const { items: objects, resourceVersion } = page;
  const isOlder = state.position !== undefined && versionOrder(resourceVersion, state.position) === "older";
  const believed = isOlder && state.stale + 1 >= mostStale;
  if (isOlder && !believed) return onFailure({ ...state, stale: state.stale + 1 }, staleListing, moment);
  const progress = nextPage(listingOf(state), page);
  const listed: Telling = { tell: "listed", objects, believed };
  switch (progress.is) {
    case "broken":
      return onFailure(state, { ...brokenListing, message: progress.problem }, moment);
    case "more":
      return { ...list(state, progress.listing), tell: [listed] };
    case "whole": {
      const exact = listingOf(state).exact !== undefined;
      const known = {
        ...compared(state, moment),
        position: resourceVersion,
        synced: true,
        following: true,
        stale: 0,
      };
      const tell: readonly Telling[] = [listed, { tell: "complete", resourceVersion, exact }];
      return { ...proceed({ ...known, degraded: undefined }, "watch", moment), tell };
    }
  }
}

/** All that came at once, up to the first that ends the watch. */
function onFrames(state: StreamState, frames: readonly WatchFrame[], moment: Moment): Step {
  let last = reading(state);
  const tell: Telling[] = [];
  for (const frame of frames) {
    last = onFrame(last.state, frame, moment);
    tell.push(...last.tell);
    if (last.action.do !== "read") break;
  }
  return { ...last, tell };
}

function onFrame(state: StreamState, frame: WatchFrame, moment: Moment): Step {
  switch (frame.type) {
    case "BOOKMARK": {
      const { resourceVersion } = frame;
      const next = advanced(state, resourceVersion);
      return reading(next, next === state ? [] : [{ tell: "position", resourceVersion }]);
    }
    case "ADDED":
    case "MODIFIED":
      return isReplayed(state, frame.object) ? reading(state) : onChange(state, "changed", frame.object);
    case "DELETED":
      return onChange(state, "gone", frame.object);
    case "ERROR": {
      const failure = failureOf(frame.error);
      const kind = failure.kind === "passing" ? "doubtful" : failure.kind;
      return step(state, { type: "failed", failure: { ...failure, kind } }, moment);
    }
  }
}

const onChange = (state: StreamState, tell: "changed" | "gone", object: KubeObject): Step =>
  reading({ ...advanced(state, object.metadata.resourceVersion), quiet: false }, [{ tell, object }]);

/** Every failure waits; what it does then depends on what broke, and on whether resuming can mend it. */
function onFailure(before: StreamState, failure: Failure, moment: Moment): Step {
  const isDoubt = failure.kind === "doubtful" || failure.kind === "expired";
  const failures = before.failures + 1;
  const doubts = before.doubts + (isDoubt ? 1 : 0);
  const state: StreamState = {
    ...before,
    failures,
    doubts,
    barren: before.barren + (failure.kind === "doubtful" ? 1 : 0),
    lastFailure: failure,
    degraded: failure.kind === "refused" ? failure : before.degraded,
  };
  const first = failure.kind === "expired" && doubts === 1;
  const longest = failure.kind === "passing" ? longestBackoff.passing : longestBackoff.lasting;
  const asked = (failure.retryAfter ?? 0) * (1 + moment.random / 10);
  const span = first ? asked : Math.max(asked, backoff(isDoubt ? doubts : failures, longest, moment.random));
  if (failure.kind === "expired") return relist(state, span, moment);
  if (listingOf(state).exact !== undefined && failure.kind !== "passing") {
    return again(compared(state, moment), "watch", span, moment); // not every server lists the past
  }
  if (state.phase.name === "listing") {
    if (failure.kind === "doubtful") return relist(state, span, moment);
    return again(state, { list: state.phase.listing }, span, moment);
  }
  return state.barren >= mostBarren ? relist(state, span, moment) : again(state, "watch", span, moment);
}

const relist = (state: StreamState, span: Milliseconds, moment: Moment): Step =>
  again(
    { ...state, following: false, barren: 0, relists: state.relists + 1 },
    { list: startListing },
    span,
    moment,
  );

/** Goes on after a time, and not within a second of having asked before. */
function again(state: StreamState, next: Next, span: Milliseconds, moment: Moment): Step {
  const reconnects = state.reconnects + (next === "watch" ? 1 : 0);
  const wait = Math.max(span, state.askedAt + shortestGap - moment.now);
  if (wait <= 0) return proceed({ ...state, reconnects }, next, moment);
  const waiting: StreamState = { ...state, reconnects, phase: { name: "waiting", next } };
  return { state: waiting, tell: [], action: { do: "wait", span: wait } };
}

/** A stream that has just asked for what its last step said, which may have taken long to be told. */
export const askedNow = (state: StreamState, now: Milliseconds): StreamState => ({ ...state, askedAt: now });

function proceed(state: StreamState, next: Next, moment: Moment): Step {
  const { position, quiet, compareEvery } = state;
  const asked = { ...state, askedAt: moment.now };
  if (next !== "watch") return list(asked, next.list);
  if (position === undefined) return list(asked, startListing);
  const [shortest, spread] = quiet ? [40, 10] : [300, 300];
  const usual = shortest + spread * moment.random;
  const timeoutSeconds = Math.floor(Math.max(1, Math.min(usual, compareEvery / 1_000)));
  return {
    state: { ...asked, phase: { name: "opening" } },
    tell: [],
    action: { do: "watch", from: position, timeoutSeconds },
  };
}

const list = (state: StreamState, listing: Listing): Step => ({
  state: { ...state, phase: { name: "listing", listing } },
  tell: [],
  action: { do: "list", listing },
});

const reading = (state: StreamState, tell: readonly Telling[] = []): Step => ({
  state,
  tell,
  action: { do: "read" },
});

/** The state at a newer version; the same state at an older one. Progress forgives what failed before. */
function advanced(state: StreamState, version: ResourceVersion): StreamState {
  const order = state.position === undefined ? "newer" : versionOrder(version, state.position);
  if (order === "older" || order === "same") return state;
  const phase = state.phase.name === "watching" ? { ...state.phase, progressed: true } : state.phase;
  return { ...well(state), phase, position: version, following: true };
}

const compared = (state: StreamState, { now }: Moment): StreamState => ({
  ...state,
  comparedAt: now,
  comparisons: state.comparisons + 1,
});

/** Comparisons are made between two watches: nothing is told meanwhile, so that what differs was missed. */
const isComparisonDue = ({ position, comparedAt, compareEvery }: StreamState, { now }: Moment): boolean =>
  position !== undefined && now - (comparedAt ?? now) >= compareEvery;

const well = (state: StreamState): StreamState => ({
  ...state,
  failures: 0,
  doubts: 0,
  barren: 0,
});

const wasWell = ({ phase }: StreamState, { now }: Moment): boolean =>
  phase.name === "watching" && (phase.progressed || now - phase.since >= healthyAfter);

// A deletion is never taken for a replay: some servers send it with the version that the object had.
const isReplayed = ({ position }: StreamState, { metadata }: KubeObject): boolean =>
  position !== undefined && versionOrder(metadata.resourceVersion, position) === "older";

const listingOf = ({ phase }: StreamState): Listing =>
  phase.name === "listing" ? phase.listing : startListing;

const closedAtOnce: Failure = {
  kind: "doubtful",
  reason: "ClosedAtOnce",
  message: "The server ended the watch at once and told nothing new.",
};
const staleListing: Failure = {
  kind: "doubtful",
  reason: "StaleListing",
  message: "The server listed a state older than one that it showed before.",
};
const brokenListing = { kind: "doubtful", reason: "BrokenListing" } as const;
