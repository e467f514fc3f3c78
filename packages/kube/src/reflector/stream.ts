import type { Milliseconds } from "@drover/controller";
import type { KubeObject, ResourceVersion } from "../objects/kube-object.ts";
import type { ObjectList } from "../client/reply.ts";
import type { WatchFrame } from "../client/watch-frames.ts";
import { backoffDelay, longestBackoff, shortestGap } from "./backoff-delay.ts";
import { type Failure, failureOf } from "./failure.ts";
import { type ListProgress, nextPage, listStart } from "./list-progress.ts";
import {
  advanced,
  withStreaming,
  afterComparison,
  isComparisonDue,
  isBeforePosition,
  listedUpTo,
  listingOf,
  type StepTime,
  mostUnfinished,
  type Next,
  type Phase,
  type StreamState,
  wasHealthy,
  afterProgress,
} from "./stream-state.ts";

export type StreamInput =
  | { readonly type: "started" | "waited" }
  | { readonly type: "page"; readonly page: ObjectList }
  /** The headers of a watch, or of a streamed list, arrived. */
  | { readonly type: "opened" }
  /** The frames in one chunk of the body. */
  | { readonly type: "frames"; readonly frames: readonly WatchFrame[] }
  /** The server ended the watch normally. */
  | { readonly type: "closed" }
  /** No byte has arrived for too long. */
  | { readonly type: "silent" }
  | { readonly type: "failed"; readonly failure: Failure };

/** An observation to emit, before the new state is used. */
export type StreamObservation =
  /** A part of a list. `believed`: it counts although it is older than what was emitted before. */
  | { readonly type: "listed"; readonly objects: readonly KubeObject[]; readonly believed: boolean }
  /** The list is complete: an object that it lacks is gone. `exact`: it is of the position, so a watch missed this. */
  | { readonly type: "complete"; readonly resourceVersion: ResourceVersion; readonly exact: boolean }
  /** `created`: it was made at this version, as the API server reports. */
  | { readonly type: "changed"; readonly object: KubeObject; readonly created?: true }
  | { readonly type: "gone"; readonly object: KubeObject }
  | { readonly type: "position"; readonly resourceVersion: ResourceVersion };

/** The next action. Its outcome is the next input. */
export type StreamAction =
  | { readonly do: "list"; readonly listing: ListProgress }
  /** A list of a state no older than `from` (left out: the newest), and on the same connection a watch after it. */
  | { readonly do: "stream"; readonly from: ResourceVersion | undefined; readonly timeoutSeconds: number }
  | { readonly do: "watch"; readonly from: ResourceVersion; readonly timeoutSeconds: number }
  | { readonly do: "read" }
  | { readonly do: "wait"; readonly span: Milliseconds };

export interface StreamStep {
  readonly state: StreamState;
  readonly observations: readonly StreamObservation[];
  readonly action: StreamAction;
}

/** After this number of barren watches in a row, list instead of resuming at the position. */
const maxFruitlessWatches = 5;
/** This number of stale lists in a row is accepted: etcd was restored. */
const maxStaleLists = 3;

/**
 * Computes the next step of a stream: list, watch, and the recovery of both from failures. Pure: the time and a random
 * number are given; observations to emit and the next action are returned. The model is kube-rs' `watcher`.
 *
 * Guarantees: the position goes back only if the server lists an older state repeatedly; a watch resumes at the
 * position; after every input there is a next action; no request is made within a Retry-After; one relist for a 410; at
 * most one reconnect a second.
 */
export function step(state: StreamState, input: StreamInput, moment: StepTime): StreamStep {
  switch (input.type) {
    case "started": {
      const started = { ...state, comparedAt: moment.now };
      return proceed(started, state.synced ? "watch" : { list: listStart }, moment);
    }
    case "waited":
      return proceed(state, state.phase.name === "waiting" ? state.phase.next : "watch", moment);
    case "page":
      return onPage(state, input.page, moment);
    case "opened": {
      const { streamed } = listingOf(state);
      if (streamed) return reading({ ...state, unfinished: state.unfinished + 1, degraded: undefined });
      const phase: Phase = { name: "watching", since: moment.now, progressed: false };
      return reading({ ...state, phase, degraded: undefined });
    }
    case "frames":
      return onFrames(state, input.frames, moment);
    case "closed":
      if (listingOf(state).streamed) return onFailure(state, endedListing, moment);
      if (!wasHealthy(state, moment)) return onFailure(state, closedAtOnce, moment);
      return isComparisonDue(state, moment)
        ? again(afterProgress(state), { list: { ...listStart, exact: state.position } }, 0, moment)
        : again(afterProgress(state), "watch", 0, moment);
    case "silent":
      if (listingOf(state).streamed) return onFailure(state, silentListing, moment);
      return again({ ...afterProgress(state), quiet: true }, "watch", 0, moment);
    case "failed":
      return onFailure(wasHealthy(state, moment) ? afterProgress(state) : state, input.failure, moment);
  }
}

function onPage(state: StreamState, page: ObjectList, moment: StepTime): StreamStep {
  const { items: objects, resourceVersion } = page;
  const isOlder = isBeforePosition(state, resourceVersion);
  const believed = isOlder && state.stale + 1 >= maxStaleLists;
  if (isOlder && !believed) return onFailure({ ...state, stale: state.stale + 1 }, staleListing, moment);
  const progress = nextPage(listingOf(state), page);
  const listed: StreamObservation = { type: "listed", objects, believed };
  switch (progress.is) {
    case "broken":
      return onFailure(state, doubtful("BrokenListing", progress.problem), moment);
    case "more":
      return { ...list(state, progress.listing), observations: [listed] };
    case "whole": {
      const exact = listingOf(state).exact !== undefined;
      const observations: readonly StreamObservation[] = [
        listed,
        { type: "complete", resourceVersion, exact },
      ];
      return { ...proceed(listedUpTo(state, resourceVersion, moment), "watch", moment), observations };
    }
  }
}

/** Takes the frames that arrived together, up to the first one that ends the watch. */
function onFrames(state: StreamState, frames: readonly WatchFrame[], moment: StepTime): StreamStep {
  let last = reading(state);
  const observations: StreamObservation[] = [];
  for (const frame of frames) {
    last = onFrame(last.state, frame, moment);
    observations.push(...last.observations);
    if (last.action.do !== "read") break;
  }
  return { ...last, observations };
}

function onFrame(state: StreamState, frame: WatchFrame, moment: StepTime): StreamStep {
  if (listingOf(state).streamed && frame.type !== "ERROR") return onListedFrame(state, frame, moment);
  switch (frame.type) {
    case "BOOKMARK": {
      const { resourceVersion } = frame;
      const next = advanced(state, resourceVersion);
      return reading(next, next === state ? [] : [{ type: "position", resourceVersion }]);
    }
    case "ADDED":
    case "MODIFIED": {
      const { object } = frame;
      if (isReplayed(state, object)) return reading(state);
      return onChange(state, { type: "changed", object, ...(frame.type === "ADDED" && { created: true }) });
    }
    case "DELETED":
      return onChange(state, { type: "gone", object: frame.object });
    case "ERROR": {
      const failure = failureOf(frame.error);
      const kind = failure.kind === "passing" ? "doubtful" : failure.kind;
      return step(state, { type: "failed", failure: { ...failure, kind } }, moment);
    }
  }
}

/**
 * Takes a frame before the end of a streamed list. Objects may change and be deleted while the list is sent. A bookmark
 * that does not end the list comes from a server without streamed lists, which watches from the requested version.
 */
function onListedFrame(
  state: StreamState,
  frame: Exclude<WatchFrame, { type: "ERROR" }>,
  moment: StepTime,
): StreamStep {
  if (frame.type === "DELETED") return reading(state, [{ type: "gone", object: frame.object }]);
  if (frame.type !== "BOOKMARK")
    return reading(state, [{ type: "listed", objects: [frame.object], believed: false }]);
  const { resourceVersion, initialEventsEnd } = frame;
  if (!initialEventsEnd) return inPages(state, notStreamed, moment);
  if (isBeforePosition(state, resourceVersion))
    return onFailure({ ...state, stale: state.stale + 1 }, staleListing, moment);
  const phase: Phase = { name: "watching", since: moment.now, progressed: false };
  return reading({ ...listedUpTo(state, resourceVersion, moment), phase }, [
    { type: "complete", resourceVersion, exact: false },
  ]);
}

/** The server does not stream lists, and is not asked again. If it refused the first one, the stream does not wait. */
function inPages(before: StreamState, failure: Failure, moment: StepTime): StreamStep {
  const state = { ...before, streamsLists: false, lastFailure: failure };
  const next = { list: listStart };
  return before.unfinished === 0 && failure.retryAfter === undefined
    ? proceed(state, next, moment)
    : again(state, next, failure.retryAfter ?? 0, moment);
}

const onChange = (
  state: StreamState,
  change: Extract<StreamObservation, { type: "changed" | "gone" }>,
): StreamStep =>
  reading({ ...advanced(state, change.object.metadata.resourceVersion), quiet: false }, [change]);

/** Every failure leads to a wait. The next action depends on the failure, and on whether resuming may help. */
function onFailure(before: StreamState, failure: Failure, moment: StepTime): StreamStep {
  const { streamed } = listingOf(before);
  if (streamed && failure.reason === "Invalid") return inPages(before, failure, moment);
  const isDoubt = failure.kind === "doubtful" || failure.kind === "expired";
  const failures = before.failures + 1;
  const doubts = before.doubts + (isDoubt ? 1 : 0);
  const state: StreamState = {
    ...before,
    failures,
    doubts,
    fruitlessWatches: before.fruitlessWatches + (failure.kind === "doubtful" ? 1 : 0),
    // A problem of a streamed list seldom affects pages.
    unfinished: streamed && isDoubt ? mostUnfinished : before.unfinished,
    lastFailure: failure,
    degraded: failure.kind === "refused" ? failure : before.degraded,
  };
  const first = failure.kind === "expired" && doubts === 1;
  const longest = failure.kind === "passing" ? longestBackoff.passing : longestBackoff.lasting;
  const asked = (failure.retryAfter ?? 0) * (1 + moment.random / 10);
  const span = first
    ? asked
    : Math.max(asked, backoffDelay(isDoubt ? doubts : failures, longest, moment.random));
  if (failure.kind === "expired") return relist(state, span, moment);
  if (listingOf(state).exact !== undefined && failure.kind !== "passing") {
    return again(afterComparison(state, moment), "watch", span, moment); // not every server can list an old version
  }
  if (state.phase.name === "listing") {
    if (failure.kind === "doubtful") return relist(state, span, moment);
    return again(state, { list: state.phase.listing }, span, moment);
  }
  return state.fruitlessWatches >= maxFruitlessWatches
    ? relist(state, span, moment)
    : again(state, "watch", span, moment);
}

const relist = (state: StreamState, span: Milliseconds, moment: StepTime): StreamStep =>
  again(
    { ...state, following: false, fruitlessWatches: 0, relists: state.relists + 1 },
    { list: listStart },
    span,
    moment,
  );

/** Continues after a time, and not within a second of the last request. */
function again(state: StreamState, next: Next, span: Milliseconds, moment: StepTime): StreamStep {
  const reconnects = state.reconnects + (next === "watch" ? 1 : 0);
  const wait = Math.max(span, state.askedAt + shortestGap - moment.now);
  if (wait <= 0) return proceed({ ...state, reconnects }, next, moment);
  const waiting: StreamState = { ...state, reconnects, phase: { name: "waiting", next } };
  return { state: waiting, observations: [], action: { do: "wait", span: wait } };
}

function proceed(state: StreamState, next: Next, moment: StepTime): StreamStep {
  const { position: from, quiet } = state;
  const asked = { ...state, askedAt: moment.now };
  if (next !== "watch" || from === undefined) {
    const listing = withStreaming(state, next === "watch" ? listStart : next.list);
    if (!listing.streamed) return list(asked, listing);
    const timeoutSeconds = watchFor(state, usual, moment);
    return { ...list(asked, listing), action: { do: "stream", from, timeoutSeconds } };
  }
  const timeoutSeconds = watchFor(state, quiet ? short : usual, moment);
  const action = { do: "watch", from, timeoutSeconds } as const;
  return { state: { ...asked, phase: { name: "opening" } }, observations: [], action };
}

/** Seconds: the minimum, and the most that is added at random. */
const usual = [300, 300] as const;
const short = [40, 10] as const;

const watchFor = (
  { compareEvery }: StreamState,
  [shortest, spread]: typeof usual | typeof short,
  { random }: StepTime,
): number => Math.floor(Math.max(1, Math.min(shortest + spread * random, compareEvery / 1_000)));

const list = (state: StreamState, listing: ListProgress): StreamStep => ({
  state: { ...state, phase: { name: "listing", listing } },
  observations: [],
  action: { do: "list", listing },
});

const reading = (state: StreamState, observations: readonly StreamObservation[] = []): StreamStep => ({
  state,
  observations,
  action: { do: "read" },
});

// A deletion is never treated as a replay: some servers send it with the last version of the object.
const isReplayed = (state: StreamState, { metadata }: KubeObject): boolean =>
  isBeforePosition(state, metadata.resourceVersion);

const doubtful = (reason: string, message: string): Failure => ({ kind: "doubtful", reason, message });
const closedAtOnce = doubtful("ClosedAtOnce", "The server ended the watch at once, without a new event.");
const staleListing = doubtful(
  "StaleListing",
  "The server listed a state older than one that it showed before.",
);
const endedListing = doubtful("EndedListing", "The server ended a streamed list before it was complete.");
const silentListing = doubtful("SilentListing", "A streamed list became silent before it was complete.");
const notStreamed = doubtful("NotStreamed", "The server opened a watch instead of streaming a list.");
