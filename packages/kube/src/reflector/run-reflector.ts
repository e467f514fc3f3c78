import type { Log, Milliseconds } from "@drover/controller";
import type { KubeClient } from "../client.ts";
import { withoutManagedFields } from "../managed-fields.ts";
import { collectionPath, nameOf, type ResourceRef } from "../resource-ref.ts";
import { pause, processTimers, type Timers } from "@drover/timers";
import { type Failure, failureOf, receiverFailed } from "./failure.ts";
import type { ReflectorEvent } from "./object-event.ts";
import type { ResourceVersion } from "./resource-version.ts";
import { memorySeenIndex, type SeenIndex } from "./seen-index.ts";
import { needsWhole, type Subscription } from "../subscription.ts";
import { type Action, step, type StreamInput } from "./stream.ts";
import { askedNow, type Beginning, newStream, type Phase, type StreamState } from "./stream-state.ts";
import { teller } from "./teller.ts";
import { type WatchConnection, watchConnection } from "./watch-connection.ts";

export interface ReflectorOptions {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly ref: ResourceRef;
  /** One namespace; left out: all. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Default: one that its objects name themselves for. */
  readonly subscriptions?: readonly Subscription[];
  /** Default: whether that is enough for all subscriptions. */
  readonly metadataOnly?: boolean;
  /** Ends the reflector. */
  readonly signal: AbortSignal;
  /** Takes what came together; nothing more is read meanwhile. What it throws on is told again. */
  readonly onEvents: (events: readonly ReflectorEvent[]) => Promise<void> | void;
  /** Awaited before a listing is asked for; `newest`: of the newest state, not only of one that is no older than the position. */
  readonly beforeListing?: (newest: boolean) => Promise<void>;
  readonly log: Log;
  /** What was told before; default: nothing, in memory. */
  readonly seen?: SeenIndex;
  /** Where `seen` stands. Default: nowhere; the stream begins with a listing. */
  readonly from?: Pick<Beginning, "position" | "toldToAll">;
  /** False: list in pages. Default: only where the server cannot stream a listing. */
  readonly streamsLists?: boolean;
  /** How often what was told is compared with a listing, which finds what the watch has missed. Default 30 min. */
  readonly compareEvery?: Milliseconds;
  readonly timers?: Timers;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** No byte for this long ends a watch. Default 60 s. */
  readonly silence?: Milliseconds;
}

/** A reflector at work. */
export interface Reflector {
  /** Resolves when the signal has ended it. Never rejects: whatever fails is tried again. */
  readonly done: Promise<void>;
  /** How it is doing, for readiness and metrics. */
  status(): ReflectorStatus;
}

export interface ReflectorStatus {
  readonly phase: Phase["name"] | "stopped";
  /** A whole listing was told. */
  readonly synced: boolean;
  /** It goes on from its position. A stream that resumes is not sure of that until its watch has held for a second. */
  readonly following: boolean;
  readonly position: ResourceVersion | undefined;
  /** The age of the stream: how long ago the last byte came (or it was started). */
  readonly silentFor: Milliseconds;
  /** Listings beyond the first, each with its reason in the log. */
  readonly relists: number;
  readonly reconnects: number;
  /** How often what was told was compared with a listing. */
  readonly comparisons: number;
  /** In a row. */
  readonly failures: number;
  readonly lastFailure: Failure | undefined;
  /** Why this kind cannot be followed until somebody acts; retried all the same. */
  readonly degraded: Failure | undefined;
}

/**
 * Follows one kind until the signal fires.
 *
 * Guarantees: every change that is committed is told, at least once, in the order of its object's versions; an object
 * that is gone is told of, also when no watch said so; nothing is told while an earlier event is being taken.
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
    subscriptions: [{ id: "self", for: ref, map: { by: "self" } }],
    ...options,
  });
  return { done: driver.run(), status: driver.status };
}

type Settled = ReflectorOptions &
  Required<Pick<ReflectorOptions, "timers" | "random" | "silence" | "subscriptions">>;

function streamDriver(options: Settled) {
  const { signal, timers, random, seen = memorySeenIndex(), onEvents, log, subscriptions } = options;
  const told = teller({ seen, subscriptions, onEvents, log });
  const outcomes = outcomesOf(
    options,
    () => (heardAt = timers.now()),
    async (newest) => {
      await options.beforeListing?.(newest);
      told.beginListing();
    },
  );
  let heardAt = timers.now();
  let state = newStream({
    ...options.from,
    ...(options.compareEvery !== undefined && { compareEvery: options.compareEvery }),
    ...(options.streamsLists !== undefined && { streamsLists: options.streamsLists }),
  });
  let stopped = false;

  /** Takes a step: tells first, so that a failure to tell leaves the state as it was. */
  const take = async (input: StreamInput): Promise<Action> => {
    const next = step(state, input, { now: timers.now(), random: random() });
    if (next.tell.length > 0) {
      await told.tell(next.tell, {
        first: !state.synced,
        before: state.position,
        after: next.state.position,
      });
    }
    report(options, state, next.state, next.action);
    const asks = next.action.do !== "read" && next.action.do !== "wait";
    state = asks ? askedNow(next.state, timers.now()) : next.state;
    return next.action;
  };
  const run = async (): Promise<void> => {
    let input: StreamInput = { type: "started" };
    while (!signal.aborted) {
      const action: Action = await take(input).catch((error: unknown) =>
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
      following: state.following || hasHeld(state.phase, timers.now()),
      position: state.position,
      silentFor: timers.now() - heardAt,
      relists: state.relists,
      reconnects: state.reconnects,
      comparisons: state.comparisons,
      failures: state.failures,
      lastFailure: state.lastFailure,
      degraded: state.degraded,
    }),
  };
}

/** Refusals of a position may come as the first frame of a watch. */
const hasHeld = (phase: Phase, now: Milliseconds): boolean =>
  phase.name === "watching" && now - phase.since >= 1_000;

/** Does what the stream asks for, and says what came of it. */
function outcomesOf(options: Settled, heard: () => void, beginListing: (newest: boolean) => Promise<void>) {
  const { client, ref, namespace, labelSelector, subscriptions, signal, timers, silence } = options;
  const { metadataOnly = !subscriptions.some(needsWhole) } = options;
  const scope = { namespace, labelSelector, metadataOnly, signal };
  let connection: WatchConnection | undefined;
  const close = (): void => {
    connection?.close();
    connection = undefined;
  };
  const open = (watch: Parameters<KubeClient["watch"]>[1]): Promise<StreamInput> => {
    close();
    connection = watchConnection({ client, ref, watch: { ...watch, ...scope }, timers, silence, heard });
    return connection.open();
  };
  const of = async (action: Action): Promise<StreamInput> => {
    switch (action.do) {
      case "list": {
        close();
        const { pages, exact, continue: token } = action.listing;
        if (pages === 0) await beginListing(exact === undefined);
        const at = token === undefined && exact !== undefined ? exactly(exact) : {};
        const page = await client.list(ref, { ...scope, ...at, continue: token, retries: 0 });
        heard();
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
        await pause(timers, action.span, "reflector", signal);
        return { type: "waited" };
    }
  };
  return {
    close,
    of: (action: Action) =>
      of(action).catch((error: unknown): StreamInput => ({ type: "failed", failure: failureOf(error) })),
  };
}

const exactly = (resourceVersion: ResourceVersion) =>
  ({ resourceVersion, resourceVersionMatch: "Exact" }) as const;

function report({ log, ref }: Settled, before: StreamState, after: StreamState, action: Action): void {
  const kind = nameOf(ref);
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
