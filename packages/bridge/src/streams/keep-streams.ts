import { waitAtMost, sleepUnlessAborted } from "@drover/timers";
import type { Log, Milliseconds } from "@drover/controller";
import { resourceNameOf } from "@drover/kube";
import type { GroupMembership } from "./group-membership.ts";
import type { HeldStream, StreamStore } from "../store/stream-store.ts";
import { placeStreams } from "./place-streams.ts";
import { describeScope, type StreamPlan } from "./plan-streams.ts";
import type { FollowedStream } from "./follow-stream.ts";
import { errorSummary } from "../error-summary.ts";

/** Holds this bridge's share of the streams. */
export interface StreamKeeper {
  /**
   * Sets the streams that are wanted now.
   * @param needed all streams that are in use, including those that cannot be followed yet. The data of others is
   * deleted.
   */
  want(plans: readonly StreamPlan[], needed: ReadonlySet<string>): void;
  readonly followed: () => readonly FollowedStream[];
  /** Streams that this bridge should follow and does not, each with the reason; for readiness. */
  readonly missing: () => readonly string[];
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly bridge: string;
  readonly bridges: GroupMembership;
  readonly store: StreamStore;
  readonly follow: (plan: StreamPlan, held: HeldStream) => FollowedStream;
  /** How often leases are renewed and the list of bridges is read. */
  readonly every: Milliseconds;
  readonly log: Log;
}

/**
 * Each turn announces this bridge, releases streams that moved to another bridge or changed, renews the leases, and
 * takes free streams that belong to this bridge.
 *
 * A stream is released in order: events in progress are delivered, then the lease is released. If two bridges follow
 * one stream for a moment, keys are woken twice, and nothing else happens.
 */
export function keepStreams(options: KeeperOptions): StreamKeeper {
  const { bridge, bridges, every, log } = options;
  const holder = streamHolder(options);
  const { kept } = holder;
  const stopping = new AbortController();
  let wake = new AbortController();
  let wish: WantedStreams = { plans: [], needed: undefined };
  let missing: readonly string[] = [];
  let turns = 0;
  let handled: ReadonlySet<string> = new Set();

  const turn = async (): Promise<void> => {
    // The wish may change during the turn: use one snapshot of it throughout.
    const { plans, needed } = wish;
    const wanted = new Map(plans.map((plan) => [plan.stream, plan]));
    const here = await bridges.heartbeat();
    const mine = new Set(placeStreams([...wanted.keys()], here, bridge, kindOf(wanted)));
    for (const [id, { held, stream }] of kept) {
      const plan = wanted.get(id);
      const isRight = plan !== undefined && isSame(plan, stream.plan) && mine.has(id) && !held.lost.aborted;
      if (!isRight) await holder.release(id, needed?.has(id) !== true);
    }
    for (const { held } of kept.values()) await held.renew();
    missing = await holder.takeAll(plans.filter(({ stream }) => mine.has(stream)));
    handled = new Set(wanted.keys());
    if (needed !== undefined && turns++ % turnsPerCleanup === 0) {
      await holder.forgetUnused((unwanted) => placeStreams(unwanted, here, bridge), needed);
    }
  };
  const turning = (async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      await turn().catch((error: unknown) => {
        log.warn({ err: error }, "Could not update the streams; trying again");
      });
      await sleepUnlessAborted(every, AbortSignal.any([wake.signal, stopping.signal]));
    }
  })();

  return {
    want(plans, needed) {
      wish = { plans, needed };
      turns = 0;
      wake.abort();
    },
    followed: () => [...kept.values()].map(({ stream }) => stream),
    missing: () => {
      const ahead = wish.plans.filter(({ stream }) => !handled.has(stream));
      return [...missing, ...ahead.map((plan) => `${describeScope(plan)} is not followed yet`)];
    },
    async stop() {
      stopping.abort();
      const inOrder = turning
        .then(() => Promise.all([...kept.keys()].map((id) => holder.release(id, false))))
        .then(() => bridges.leave());
      await waitAtMost(releaseTimeout, inOrder);
      // A turn that waits for Redis for ever releases none: a stream that goes on keeps the process alive.
      for (const { stream } of kept.values()) void stream.stop();
    },
  };
}

interface WantedStreams {
  readonly plans: readonly StreamPlan[];
  /** Undefined until the first registration. */
  readonly needed: ReadonlySet<string> | undefined;
}

/**
 * All streams of a kind go to one bridge: it reports in the status how the kind is followed, and runs its campaigns.
 * @returns the kind of a stream; a stream that is not wanted is by itself.
 */
const kindOf =
  (wanted: ReadonlyMap<string, StreamPlan>) =>
  (stream: string): string => {
    const plan = wanted.get(stream);
    return plan === undefined ? stream : resourceNameOf(plan.ref);
  };

/** The streams that this bridge holds, and the operations that take and release them. */
function streamHolder({ store, follow, log }: KeeperOptions) {
  const kept = new Map<string, { readonly held: HeldStream; readonly stream: FollowedStream }>();
  const take = async (plan: StreamPlan): Promise<string | undefined> => {
    const answer = await store.hold(plan.stream, plan.subscriberSet);
    if ("heldBy" in answer) return `${describeScope(plan)} is still held by ${answer.heldBy}`;
    kept.set(plan.stream, { held: answer, stream: follow(plan, answer) });
    return undefined;
  };
  return {
    kept,
    /** @param forget if true, no function needs the stream any more: its data is deleted. */
    async release(id: string, forget: boolean): Promise<void> {
      const each = kept.get(id);
      if (each === undefined) return;
      await each.stream.stop();
      kept.delete(id);
      if (each.held.lost.aborted) return;
      // If Redis refuses, the turn continues: the lease ends by itself, and data that was not deleted is found again
      // later.
      await (forget ? each.held.forget() : each.held.release()).catch((error: unknown) => {
        log.warn({ err: error, stream: id }, "Redis refused to release a stream; its lease ends by itself");
      });
    },
    /** Deletes the data of streams that are no longer needed and that no bridge held when they became unneeded. */
    async forgetUnused(
      ours: (streams: readonly string[]) => readonly string[],
      needed: ReadonlySet<string>,
    ): Promise<void> {
      for (const id of ours((await store.known()).filter((one) => !needed.has(one)))) {
        const answer = await store.hold(id, { scope: "", listeners: [], queues: [] });
        if (!("heldBy" in answer)) await answer.forget();
      }
    },
    /** Takes the free streams. Returns, for each of the others, the reason why it could not be taken. */
    async takeAll(plans: readonly StreamPlan[]): Promise<readonly string[]> {
      const absent: string[] = [];
      for (const plan of plans.filter(({ stream }) => !kept.has(stream))) {
        const problem = await take(plan).catch((error: unknown) => {
          log.warn({ err: error, stream: plan.stream }, "Could not start to follow a stream; trying again");
          return `${describeScope(plan)} cannot be followed: ${errorSummary(error)}`;
        });
        if (problem !== undefined) absent.push(problem);
      }
      return absent;
    },
  };
}

/** Turns between two clean-ups of unneeded streams (about a minute). */
const turnsPerCleanup = 90;

/** How long to wait at the end for a Redis that does not answer: its leases end by themselves. */
const releaseTimeout: Milliseconds = 2_000;

const isSame = (a: StreamPlan, b: StreamPlan): boolean =>
  JSON.stringify([a.subscriberSet, a.ref]) === JSON.stringify([b.subscriberSet, b.ref]);
