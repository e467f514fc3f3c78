import type { Log, Milliseconds } from "@drover/controller";
import { nameOf } from "@drover/kube";
import { atMost, pause } from "@drover/runtime";
import {
  type Bridges,
  type HeldStream,
  placeStreams,
  placeWords,
  type StreamPlan,
  type StreamStore,
} from "@drover/streams";
import type { FollowedStream } from "./follow-stream.ts";
import { wordsOf } from "./words-of.ts";

/** Holds the streams that are ours to hold. */
export interface StreamKeeper {
  /**
   * The streams that are wanted now.
   * @param needed all streams that are of use, those among them that cannot be followed yet: what is kept of others goes.
   */
  want(plans: readonly StreamPlan[], needed: ReadonlySet<string>): void;
  readonly followed: () => readonly FollowedStream[];
  /** Streams that nobody is known to follow, by who should be; for readiness. */
  readonly missing: () => readonly string[];
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly bridge: string;
  readonly bridges: Bridges;
  readonly store: StreamStore;
  readonly follow: (plan: StreamPlan, held: HeldStream) => FollowedStream;
  /** How often leases are renewed and the other bridges looked for. */
  readonly every: Milliseconds;
  readonly log: Log;
}

/**
 * Every turn: say that we are here, let go of what is another's or changed, renew, take what is ours and free.
 *
 * A stream is let go of in order: what is being told is told to its end, and then the lease is given back. Two bridges
 * that follow one stream for a moment only wake keys twice.
 */
export function keepStreams(options: KeeperOptions): StreamKeeper {
  const { bridge, bridges, every, log } = options;
  const hand = hands(options);
  const { kept } = hand;
  const stopping = new AbortController();
  let wake = new AbortController();
  let wish: Wish = { plans: [], needed: undefined };
  let missing: readonly string[] = [];
  let turns = 0;
  let lookedAfter: ReadonlySet<string> = new Set();

  const turn = async (): Promise<void> => {
    // What is wished for may change meanwhile: the whole turn goes by one wish.
    const { plans, needed } = wish;
    const wanted = new Map(plans.map((plan) => [plan.stream, plan]));
    const here = await bridges.here();
    // The streams of a kind go together: one bridge says in the status how it is followed, and runs its campaigns.
    const kindOf = (stream: string): string => {
      const plan = wanted.get(stream);
      return plan === undefined ? stream : nameOf(plan.ref);
    };
    const mine = new Set(placeStreams([...wanted.keys()], here, bridge, kindOf));
    for (const [id, { held, stream }] of kept) {
      const plan = wanted.get(id);
      const isRight = plan !== undefined && isSame(plan, stream.plan) && mine.has(id) && !held.lost.aborted;
      if (!isRight) await hand.letGo(id, needed?.has(id) !== true);
    }
    for (const { held } of kept.values()) await held.renew();
    missing = await hand.takeAll(plans.filter(({ stream }) => mine.has(stream)));
    lookedAfter = new Set(wanted.keys());
    if (needed !== undefined && turns++ % turnsPerLook === 0) {
      await hand.forgetNobodys((unwanted) => placeStreams(unwanted, here, bridge), needed);
    }
  };
  const turning = (async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      await turn().catch((error: unknown) => {
        log.warn({ err: error }, "Could not look after the streams; trying again");
      });
      await pause(every, AbortSignal.any([wake.signal, stopping.signal]));
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
      const ahead = wish.plans.filter(({ stream }) => !lookedAfter.has(stream));
      return [...missing, ...ahead.map((plan) => `${placeWords(plan)} is not looked after yet`)];
    },
    async stop() {
      stopping.abort();
      const inOrder = turning
        .then(() => Promise.all([...kept.keys()].map((id) => hand.letGo(id, false))))
        .then(() => bridges.leave());
      await atMost(farewell, inOrder);
    },
  };
}

interface Wish {
  readonly plans: readonly StreamPlan[];
  /** Undefined before anything is known. */
  readonly needed: ReadonlySet<string> | undefined;
}

/** The streams in hand, and how they come and go. */
function hands({ store, follow, log }: KeeperOptions) {
  const kept = new Map<string, { readonly held: HeldStream; readonly stream: FollowedStream }>();
  const take = async (plan: StreamPlan): Promise<string | undefined> => {
    const answer = await store.hold(plan.stream, plan.audience);
    if ("heldBy" in answer) return `${placeWords(plan)} is still held by ${answer.heldBy}`;
    kept.set(plan.stream, { held: answer, stream: follow(plan, answer) });
    return undefined;
  };
  return {
    kept,
    /** `forget`: nobody follows it any more. */
    async letGo(id: string, forget: boolean): Promise<void> {
      const each = kept.get(id);
      if (each === undefined) return;
      await each.stream.stop();
      kept.delete(id);
      if (each.held.lost.aborted) return;
      // Whatever Redis refuses, the turn goes on: the lease ends by itself, and what is not forgotten is found again.
      await (forget ? each.held.forget() : each.held.release()).catch((error: unknown) => {
        log.warn({ err: error, stream: id }, "Redis refused to release a stream; its lease ends by itself");
      });
    },
    /** Those that nobody wants any more, and that no bridge had in hand when that came about. */
    async forgetNobodys(
      ours: (streams: readonly string[]) => readonly string[],
      needed: ReadonlySet<string>,
    ): Promise<void> {
      for (const id of ours((await store.known()).filter((one) => !needed.has(one)))) {
        const answer = await store.hold(id, { scope: "", listeners: [], queues: [] });
        if (!("heldBy" in answer)) await answer.forget();
      }
    },
    /** Takes those that are free; answers in whose hands the others are. */
    async takeAll(plans: readonly StreamPlan[]): Promise<readonly string[]> {
      const absent: string[] = [];
      for (const plan of plans.filter(({ stream }) => !kept.has(stream))) {
        const problem = await take(plan).catch((error: unknown) => {
          log.warn({ err: error, stream: plan.stream }, "Could not take up a stream; trying again");
          return `${placeWords(plan)} cannot be taken up: ${wordsOf(error)}`;
        });
        if (problem !== undefined) absent.push(problem);
      }
      return absent;
    },
  };
}

/** How seldom it is looked for streams that are nobody's: about once a minute. */
const turnsPerLook = 90;

/** How long a Redis that does not answer is waited for at the end: its leases end by themselves. */
const farewell: Milliseconds = 2_000;

const isSame = (a: StreamPlan, b: StreamPlan): boolean =>
  JSON.stringify([a.audience, a.ref]) === JSON.stringify([b.audience, b.ref]);
