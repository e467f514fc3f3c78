import type { Log, Milliseconds } from "@drover/controller";
import type { KubeClient } from "../client/client.ts";
import {
  withoutManagedFields,
  keyOf,
  type KubeObject,
  type ResourceVersion,
} from "../objects/kube-object.ts";
import { collectionPath, resourceNameOf, type ResourceRef } from "../objects/resource-ref.ts";
import { sleep, processTimers, type Timers } from "@drover/timers";
import { type Failure, failureOf, receiverFailed } from "./failure.ts";
import type { ReflectorEvent } from "./change-events.ts";
import { memorySeenIndex, type SeenIndex } from "./seen-index.ts";
import type { MappingResults } from "./mapping-result.ts";
import { type StreamAction, step, type StreamInput } from "./stream.ts";
import {
  withRequestTime,
  type StreamStart,
  newStream,
  type Phase,
  type StreamState,
} from "./stream-state.ts";
import { emitter } from "./emitter.ts";
import { type WatchConnection, watchConnection } from "./watch-connection.ts";

export interface ReflectorOptions {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly ref: ResourceRef;
  /** One namespace; left out: all. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** The mapping results of an object. Default: one result, `self`, with the object's own key. */
  readonly map?: (object: KubeObject) => MappingResults;
  /** If true, the stream requests only the objects' metadata. Default: true. */
  readonly metadataOnly?: boolean;
  /** Ends the reflector. */
  readonly signal: AbortSignal;
  /**
   * Receives events that arrived together. No more are read before it returns; if it throws, it gets the same ones
   * again.
   */
  readonly onEvents: (events: readonly ReflectorEvent[]) => Promise<void> | void;
  /**
   * Awaited before a list is requested. `newest`: a list of the newest state; else it may be of any state since `from`.
   */
  readonly beforeListing?: (newest: boolean) => Promise<void>;
  readonly log: Log;
  /** The objects that were emitted before. Default: none, in memory. */
  readonly seen?: SeenIndex;
  /** The position of `seen`. Default: none; the stream begins with a list. */
  readonly from?: Pick<StreamStart, "position" | "emittedToAll">;
  /** If false, list in pages. Default: pages only if the server cannot stream a list. */
  readonly streamsLists?: boolean;
  /** Interval of the comparisons with a list, which find changes that the watch has missed. Default 30 min. */
  readonly compareEvery?: Milliseconds;
  /**
   * While many objects are created, emit those of this time together, up to the first event of another type: each
   * `onEvents` has a cost. Default 0.
   */
  readonly gatherCreated?: Milliseconds;
  readonly timers?: Timers;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** A watch ends after this time without a byte. Default 60 s. */
  readonly silence?: Milliseconds;
}

/** A running reflector. */
export interface Reflector {
  /** Resolves when the signal has ended it. Never rejects: every failure is retried. */
  readonly done: Promise<void>;
  /** The current state, for readiness and metrics. */
  status(): ReflectorStatus;
}

export interface ReflectorStatus {
  readonly phase: Phase["name"] | "stopped";
  /** A list was emitted completely, or the stream began at a position that was emitted to all subscribers. */
  readonly synced: boolean;
  /**
   * It continues from its position. A stream that resumes is certain of this only when its watch was open for a second.
   */
  readonly following: boolean;
  readonly position: ResourceVersion | undefined;
  /** Time since the last byte arrived (or since the start). */
  readonly silentFor: Milliseconds;
  /** Lists after the first one, each logged with its reason. */
  readonly relists: number;
  readonly reconnects: number;
  /** Number of comparisons with a list. */
  readonly comparisons: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly lastFailure: Failure | undefined;
  /** Why this kind cannot be followed until an operator acts; retried all the same. */
  readonly degraded: Failure | undefined;
}

/**
 * Follows one kind until the signal fires.
 *
 * Guarantees: every committed change is emitted, at least once, in the order of its object's versions; after an
 * interruption, several changes of an object may be emitted as one. The deletion of an object is emitted, also if no
 * watch showed it. No event is emitted while an earlier one is being processed.
 *
 * @throws WrongScopeError for a namespace of a cluster-scoped kind.
 */
export function runReflector(options: ReflectorOptions): Reflector {
  const { ref, namespace, timers = processTimers } = options;
  collectionPath(ref, namespace);
  const driver = streamDriver({
    timers,
    random: Math.random,
    silence: 60_000,
    map: ownKey,
    ...options,
  });
  return { done: driver.run(), status: driver.status };
}

const ownKey = (object: KubeObject): MappingResults => ({
  self: { keys: [keyOf(object)], view: object.metadata.resourceVersion },
});

type ResolvedOptions = ReflectorOptions &
  Required<Pick<ReflectorOptions, "timers" | "random" | "silence" | "map">>;

function streamDriver(options: ResolvedOptions) {
  const { signal, timers, random, seen = memorySeenIndex(), onEvents, log, map } = options;
  const events = emitter({ seen, map, onEvents, log });
  const outcomes = outcomesOf(
    options,
    () => (lastActivityAt = timers.now()),
    async (newest) => {
      await options.beforeListing?.(newest);
      events.beginListing();
    },
  );
  let lastActivityAt = timers.now();
  let state = newStream({
    ...options.from,
    ...(options.compareEvery !== undefined && { compareEvery: options.compareEvery }),
    ...(options.streamsLists !== undefined && { streamsLists: options.streamsLists }),
  });
  let stopped = false;

  /** Takes a step. It emits first, so that a failure to emit leaves the state unchanged. */
  const take = async (input: StreamInput): Promise<StreamAction> => {
    const next = step(state, input, { now: timers.now(), random: random() });
    if (next.observations.length > 0) {
      await events.emit(next.observations, {
        first: !state.synced,
        before: state.position,
        after: next.state.position,
      });
    }
    report(options, state, next.state, next.action);
    const isRequest = next.action.do !== "read" && next.action.do !== "wait";
    state = isRequest ? withRequestTime(next.state, timers.now()) : next.state;
    return next.action;
  };
  const run = async (): Promise<void> => {
    let input: StreamInput = { type: "started" };
    while (!signal.aborted) {
      const action: StreamAction = await take(input).catch((error: unknown) =>
        take({ type: "failed", failure: receiverFailed(error) }),
      );
      input = await outcomes.of(action);
    }
    outcomes.close();
    stopped = true;
  };
  return {
    run,
    status: (): ReflectorStatus => ({
      phase: stopped ? "stopped" : state.phase.name,
      synced: state.synced,
      following: state.following || hasLasted(state.phase, timers.now()),
      position: state.position,
      silentFor: timers.now() - lastActivityAt,
      relists: state.relists,
      reconnects: state.reconnects,
      comparisons: state.comparisons,
      failures: state.failures,
      lastFailure: state.lastFailure,
      degraded: state.degraded,
    }),
  };
}

/** The first frame of a watch may still refuse the position. */
const hasLasted = (phase: Phase, now: Milliseconds): boolean =>
  phase.name === "watching" && now - phase.since >= 1_000;

/** Executes the action that the stream requests, and returns its outcome as the next input. */
function outcomesOf(
  options: ResolvedOptions,
  onActivity: () => void,
  beginListing: (newest: boolean) => Promise<void>,
) {
  const { client, ref, namespace, labelSelector, metadataOnly = true, signal, timers, silence } = options;
  const { gatherCreated } = options;
  const scope = { namespace, labelSelector, metadataOnly, signal };
  let connection: WatchConnection | undefined;
  const close = (): void => {
    connection?.close();
    connection = undefined;
  };
  const open = (watch: Parameters<KubeClient["watch"]>[1]): Promise<StreamInput> => {
    close();
    connection = watchConnection({
      client,
      ref,
      watch: { ...watch, ...scope },
      gatherCreated,
      timers,
      silence,
      onActivity,
    });
    return connection.open();
  };
  const of = async (action: StreamAction): Promise<StreamInput> => {
    switch (action.do) {
      case "list": {
        close();
        const { pages, exact, continue: token } = action.listing;
        if (pages === 0) await beginListing(exact === undefined);
        const at = token === undefined && exact !== undefined ? exactly(exact) : {};
        const page = await client.list(ref, { ...scope, ...at, continue: token, retries: 0 });
        onActivity();
        return { type: "page", page: { ...page, items: page.items.map(withoutManagedFields) } };
      }
      case "stream": {
        const { from: resourceVersion = "", timeoutSeconds } = action;
        await beginListing(resourceVersion === "");
        return open({ resourceVersion, timeoutSeconds, sendInitialEvents: true });
      }
      case "watch": {
        const { from: resourceVersion, timeoutSeconds } = action;
        return open({ resourceVersion, timeoutSeconds });
      }
      case "read":
        return connection === undefined ? { type: "closed" } : connection.read();
      case "wait":
        close();
        await sleep(timers, action.span, "reflector", signal);
        return { type: "waited" };
    }
  };
  return {
    close,
    of: (action: StreamAction) =>
      of(action).catch((error: unknown): StreamInput => ({ type: "failed", failure: failureOf(error) })),
  };
}

const exactly = (resourceVersion: ResourceVersion) =>
  ({ resourceVersion, resourceVersionMatch: "Exact" }) as const;

function report(
  { log, ref }: ResolvedOptions,
  before: StreamState,
  after: StreamState,
  action: StreamAction,
): void {
  const kind = resourceNameOf(ref);
  if (before.degraded !== undefined && after.degraded === undefined)
    log.info({ kind }, "kind can be followed again");
  const failure = after.lastFailure;
  if (failure === undefined || failure === before.lastFailure) return;
  const { reason, message } = failure;
  const fields = {
    kind,
    reason,
    message,
    ...(action.do === "wait" ? { retryIn: Math.round(action.span) } : {}),
  };
  if (after.degraded !== undefined && before.degraded?.reason !== reason)
    log.warn(fields, "kind cannot be followed");
  else if (after.relists > before.relists) log.info(fields, "listing again");
  else log.debug(fields, "stream failed; resuming");
}
