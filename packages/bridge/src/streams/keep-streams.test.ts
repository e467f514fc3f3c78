import { silentLog } from "@drover/controller";
import type { HeldStream } from "../store/stream-store.ts";
import type { StreamPlan } from "./plan-streams.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { FollowedStream } from "./follow-stream.ts";
import { keepStreams, type KeeperOptions } from "./keep-streams.ts";

const pods: StreamPlan = {
  stream: "v1/pods",
  ref: { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
  namespace: undefined,
  labelSelector: undefined,
  subscribers: [],
  subscriberSet: { scope: "* *", listeners: [], queues: [] },
};
const nodes = { ...pods, stream: "v1/nodes", ref: { ...pods.ref, kind: "Node", plural: "nodes" } };
const podsFor = (...listeners: readonly string[]): StreamPlan => ({
  ...pods,
  subscriberSet: { ...pods.subscriberSet, listeners },
});
const elsewhere = () => Promise.resolve({ heldBy: "another", for: 1_000 });
const done = () => Promise.resolve();

/** A keeper for the only bridge of a group, until the test has ended. Another bridge holds all streams, unless `store` returns others. */
const keeperOf = ({
  bridges,
  store,
  ...more
}: Partial<Pick<KeeperOptions, "every" | "follow">> & {
  readonly bridges?: Partial<KeeperOptions["bridges"]>;
  readonly store?: Partial<KeeperOptions["store"]>;
}) => {
  const keeper = keepStreams({
    bridge: "me",
    log: silentLog,
    every: 1,
    follow: () => expect.unreachable("no stream is held"),
    bridges: { heartbeat: () => Promise.resolve(["me"]), leave: done, ...bridges },
    store: { hold: elsewhere, known: () => Promise.resolve([]), ...store },
    ...more,
  });
  onTestFinished(() => keeper.stop());
  return keeper;
};

/**
 * A keeper of streams that no bridge holds. `asked` has the calls, in order, without renewals.
 *
 * @param release of Redis, for streams that are released or deleted.
 * @param heartbeat of Redis, at the beginning of each turn.
 */
function opened({
  known = [] as readonly string[],
  release = done,
  heartbeat = () => Promise.resolve(["me"] as readonly string[]),
} = {}) {
  const calls: string[] = [];
  const lost = new Map<string, AbortController>();
  const noting =
    (call: string, then = done) =>
    () => {
      calls.push(call);
      return then();
    };
  let turns = 0;
  const keeper = keeperOf({
    bridges: {
      heartbeat: () => (turns++, heartbeat()),
      leave: noting("leave"),
    },
    store: {
      known: () => Promise.resolve(known),
      hold(stream, { listeners }) {
        calls.push(`hold ${stream} [${listeners.join()}]`);
        const losing = new AbortController();
        lost.set(stream, losing);
        return Promise.resolve({
          lost: losing.signal,
          position: undefined,
          emittedToAll: false,
          renew: noting(`renew ${stream}`),
          release: noting(`release ${stream}`, release),
          forget: noting(`forget ${stream}`, release),
        } as unknown as HeldStream);
      },
    },
    follow: (plan) => ({ plan, stop: noting(`stop ${plan.stream}`) }) as unknown as FollowedStream,
  });
  const turned = async (): Promise<void> => {
    const before = turns;
    await expect.poll(() => turns).toBeGreaterThan(before + 1);
  };
  const asked = () => calls.filter((call) => !call.startsWith("renew "));
  return { keeper, calls, asked, lost, turned };
}

it("reports a stream as missing from the moment on at which it is wanted", async () => {
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  const keeper = keeperOf({
    store: {
      hold: async () => {
        asked.resolve(undefined);
        await answer.promise;
        return elsewhere();
      },
    },
  });
  expect(keeper.missing()).toEqual([]);
  keeper.want([pods], new Set(["v1/pods"]));
  expect(keeper.missing()).toEqual(["pods/v1 is not followed yet"]);
  await asked.promise;
  expect(keeper.missing()).toEqual(["pods/v1 is not followed yet"]);
  answer.resolve(undefined);
  await expect.poll(() => keeper.missing()).toEqual(["pods/v1 is still held by another"]);
});

it("treats a stream as unused only according to the streams that were wanted when it looked", async () => {
  const held: string[] = [];
  const hereAsked = Promise.withResolvers<undefined>();
  const here = Promise.withResolvers<readonly string[]>();
  const keeper = keeperOf({
    bridges: {
      heartbeat: () => {
        hereAsked.resolve(undefined);
        return here.promise;
      },
    },
    store: {
      hold: (stream, { listeners }) => {
        held.push(`${stream} for ${listeners.join()}`);
        return elsewhere();
      },
      known: () => Promise.resolve(["v1/pods", "v1/old"]),
    },
  });
  // Its turn has begun before it has the wanted streams.
  await hereAsked.promise;
  keeper.want([podsFor("me")], new Set(["v1/pods"]));
  here.resolve(["me"]);
  await expect.poll(() => held).toContain("v1/old for ");
  expect(held).not.toContain("v1/pods for ");
});

it("reports why a stream cannot be taken, takes the others, and takes it when it can", async () => {
  const refusals = ["NOPERM it may not"];
  const keeper = keeperOf({
    store: {
      hold: (stream) => {
        const refusal = stream === pods.stream ? refusals[0] : undefined;
        return refusal === undefined ? elsewhere() : Promise.reject(new Error(refusal));
      },
    },
  });
  keeper.want([pods, nodes], new Set([pods.stream, nodes.stream]));
  await expect
    .poll(() => keeper.missing())
    .toEqual(["pods/v1 cannot be followed: NOPERM it may not", "nodes/v1 is still held by another"]);
  refusals.length = 0;
  await expect
    .poll(() => keeper.missing())
    .toEqual(["pods/v1 is still held by another", "nodes/v1 is still held by another"]);
});

describe("a stream that Redis refuses to release", () => {
  const services = { ...pods, stream: "v1/services", ref: { ...pods.ref, plural: "services" } };
  const events = { ...pods, stream: "v1/events", ref: { ...pods.ref, plural: "events" } };
  const refusing = { release: () => Promise.reject(new Error("NOPERM")) };

  it.each(["release", "forget"])("(%s) delays no other stream, and is taken again", async (how) => {
    const { keeper, calls } = opened(refusing);
    const needed = new Set(["v1/pods", "v1/services", "v1/events"]);
    keeper.want([pods, services], needed);
    await expect.poll(() => calls).toContain("renew v1/services");
    calls.length = 0;
    keeper.want([services, events], how === "release" ? needed : new Set(["v1/services", "v1/events"]));
    await expect.poll(() => calls).toContain("hold v1/events []");
    // All in the turn in which it was refused.
    const turn = calls.slice(calls.indexOf(`${how} v1/pods`));
    expect(turn.slice(0, 3)).toEqual([`${how} v1/pods`, "renew v1/services", "hold v1/events []"]);
    keeper.want([pods, services, events], needed);
    await expect.poll(() => calls).toContain("hold v1/pods []");
  });

  it("does not keep a bridge from leaving its group, nor from ending", async () => {
    const { keeper, calls } = opened(refusing);
    keeper.want([pods, services], new Set(["v1/pods", "v1/services"]));
    await expect.poll(() => keeper.followed()).toHaveLength(2);
    await keeper.stop();
    expect(calls.filter((call) => /^(release|leave)/.test(call)).sort()).toEqual([
      "leave",
      "release v1/pods",
      "release v1/services",
    ]);
  });
});

describe("a stream that is held", () => {
  const needed = new Set([pods.stream]);

  it("is held once, is not missing, and is released when the keeper stops", async () => {
    const { keeper, calls, asked } = opened();
    keeper.want([pods], needed);
    await expect.poll(() => calls.filter((call) => call === "renew v1/pods").length).toBeGreaterThan(1);
    expect(keeper.missing()).toEqual([]);
    expect(keeper.followed()).toHaveLength(1);
    await keeper.stop();
    expect(asked()).toEqual(["hold v1/pods []", "stop v1/pods", "release v1/pods", "leave"]);
  });

  it("is stopped when the keeper stops, also while Redis does not answer", async () => {
    const silence = Promise.withResolvers<undefined>();
    const answer = Promise.withResolvers<readonly string[]>();
    let isAway = false;
    const heartbeat = async () => {
      if (!isAway) return ["me"];
      silence.resolve(undefined);
      return answer.promise;
    };
    const { keeper, asked } = opened({ heartbeat });
    keeper.want([pods], needed);
    await expect.poll(asked).toEqual(["hold v1/pods []"]);
    isAway = true;
    await silence.promise;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = keeper.stop();
    await vi.runAllTimersAsync();
    await stopped;
    expect(asked()).toEqual(["hold v1/pods []", "stop v1/pods"]);
    answer.resolve(["me"]);
  });

  it("is stopped and taken again if it was lost, and not released: another bridge holds it by now", async () => {
    const { keeper, asked, lost, turned } = opened();
    keeper.want([podsFor("a")], needed);
    await expect.poll(asked).toEqual(["hold v1/pods [a]"]);
    lost.get(pods.stream)?.abort();
    await expect.poll(asked).toHaveLength(3);
    await turned();
    expect(asked()).toEqual(["hold v1/pods [a]", "stop v1/pods", "hold v1/pods [a]"]);
  });

  it("is restarted when its subscribers change, and otherwise not", async () => {
    const { keeper, asked, turned } = opened();
    keeper.want([podsFor("a")], needed);
    await expect.poll(asked).toHaveLength(1);
    keeper.want([podsFor("a")], needed);
    await turned();
    expect(asked()).toHaveLength(1);
    keeper.want([podsFor("a", "b")], needed);
    await expect.poll(asked).toHaveLength(4);
    expect(asked().slice(1)).toEqual(["stop v1/pods", "release v1/pods", "hold v1/pods [a,b]"]);
  });

  it("is deleted when no function needs it, and only released while one needs it that is not followed here", async () => {
    const { keeper, asked } = opened();
    keeper.want([podsFor("a")], needed);
    await expect.poll(asked).toHaveLength(1);
    keeper.want([], needed);
    await expect.poll(() => asked().slice(1)).toEqual(["stop v1/pods", "release v1/pods"]);
    keeper.want([podsFor("a")], needed);
    await expect.poll(asked).toHaveLength(4);
    keeper.want([], new Set());
    await expect.poll(() => asked().slice(4)).toEqual(["stop v1/pods", "forget v1/pods"]);
  });

  it("that no bridge follows is deleted if no function needs it", async () => {
    const { keeper, asked, turned } = opened({ known: ["v1/pods", "v1/old"] });
    await turned();
    expect(asked()).toEqual([]);
    keeper.want([], needed);
    await expect.poll(asked).toEqual(["hold v1/old []", "forget v1/old"]);
  });
});
