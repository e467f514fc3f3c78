import { silentLog } from "@drover/controller";
import type { HeldStream } from "../store/stream-store.ts";
import type { StreamPlan } from "./plan-streams.ts";
import { describe, expect, it } from "vitest";
import type { FollowedStream } from "./follow-stream.ts";
import { keepStreams } from "./keep-streams.ts";

const pods: StreamPlan = {
  stream: "v1/pods",
  ref: { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
  namespace: undefined,
  labelSelector: undefined,
  subscribers: [],
  subscriberSet: { scope: "* *", listeners: [], queues: [] },
};

it("misses a stream from the moment on at which it is wanted", async () => {
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  const keeper = keepStreams({
    bridge: "me",
    log: silentLog,
    every: 10_000,
    bridges: { heartbeat: () => Promise.resolve(["me"]), leave: () => Promise.resolve() },
    store: {
      hold: async () => {
        asked.resolve(undefined);
        await answer.promise;
        return { heldBy: "another", for: 1_000 };
      },
      known: () => Promise.resolve([]),
    },
    follow: () => {
      throw new Error("nothing is held");
    },
  });
  expect(keeper.missing()).toEqual([]);
  keeper.want([pods], new Set(["v1/pods"]));
  expect(keeper.missing()).toEqual(["pods/v1 is not followed yet"]);
  await asked.promise;
  expect(keeper.missing()).toEqual(["pods/v1 is not followed yet"]);
  answer.resolve(undefined);
  await expect.poll(() => keeper.missing()).toEqual(["pods/v1 is still held by another"]);
  await keeper.stop();
});

it("takes a stream for nobody's only by a wish that it looked after", async () => {
  const held: string[] = [];
  const hereAsked = Promise.withResolvers<undefined>();
  const here = Promise.withResolvers<readonly string[]>();
  const keeper = keepStreams({
    bridge: "me",
    log: silentLog,
    every: 10_000,
    bridges: {
      heartbeat: () => {
        hereAsked.resolve(undefined);
        return here.promise;
      },
      leave: () => Promise.resolve(),
    },
    store: {
      hold: (stream, { listeners }) => {
        held.push(`${stream} for ${listeners.join()}`);
        return Promise.resolve({ heldBy: "another", for: 1_000 });
      },
      known: () => Promise.resolve(["v1/pods", "v1/old"]),
    },
    follow: () => {
      throw new Error("nothing is held");
    },
  });
  // It has begun to look before it knows what is wanted.
  await hereAsked.promise;
  keeper.want(
    [{ ...pods, subscriberSet: { scope: "* *", listeners: ["me"], queues: [] } }],
    new Set(["v1/pods"]),
  );
  here.resolve(["me"]);
  await expect.poll(() => held).toContain("v1/old for ");
  expect(held).not.toContain("v1/pods for ");
  await keeper.stop();
});

describe("a stream whose release Redis refuses", () => {
  const services: StreamPlan = { ...pods, stream: "v1/services", ref: { ...pods.ref, plural: "services" } };
  const events: StreamPlan = { ...pods, stream: "v1/events", ref: { ...pods.ref, plural: "events" } };
  const refused = () => Promise.reject(new Error("NOPERM"));
  const unused = (): never => {
    throw new Error("Nothing is followed here.");
  };
  const never = new AbortController().signal;

  /** A keeper of streams that are free, and all that it asks of them, as it asks it. */
  function opened() {
    const asked: string[] = [];
    const note = (what: string): Promise<void> => {
      asked.push(what);
      return Promise.resolve();
    };
    const keeper = keepStreams({
      bridge: "me",
      log: silentLog,
      every: 10,
      bridges: { heartbeat: () => Promise.resolve(["me"]), leave: () => note("leave") },
      store: {
        hold: (stream) => {
          void note(`hold ${stream}`);
          const index = { get: refused, write: refused, allBut: unused };
          const calls = { owedTo: unused, updateIndexes: refused, drop: refused };
          const renew = () => note(`renew ${stream}`);
          const release = () => note(`release ${stream}`).then(refused);
          const forget = () => note(`forget ${stream}`).then(refused);
          const position = { position: undefined, emittedToAll: false };
          return Promise.resolve({ ...position, ...calls, seen: index, lost: never, renew, release, forget });
        },
        known: () => Promise.resolve([]),
      },
      follow: (plan) => ({
        plan,
        reflector: { done: Promise.resolve(), status: unused },
        counts: { wakes: 0, events: 0, missed: 0 },
        lags: () => [],
        stop: () => note(`stop ${plan.stream}`),
      }),
    });
    return { keeper, asked };
  }

  it.each(["release", "forget"])("(%s) holds up no other stream, and is taken again", async (how) => {
    const { keeper, asked } = opened();
    const needed = new Set(["v1/pods", "v1/services", "v1/events"]);
    keeper.want([pods, services], needed);
    await expect.poll(() => asked).toContain("renew v1/services");
    asked.length = 0;
    keeper.want([services, events], how === "release" ? needed : new Set(["v1/services", "v1/events"]));
    await expect.poll(() => asked).toContain("hold v1/events");
    // All in the turn in which it was refused.
    const turn = asked.slice(asked.indexOf(`${how} v1/pods`));
    expect(turn.slice(0, 3)).toEqual([`${how} v1/pods`, "renew v1/services", "hold v1/events"]);
    keeper.want([pods, services, events], needed);
    await expect.poll(() => asked).toContain("hold v1/pods");
    await keeper.stop();
  });

  it("keeps no bridge from saying that it leaves, nor from ending", async () => {
    const { keeper, asked } = opened();
    keeper.want([pods, services], new Set(["v1/pods", "v1/services"]));
    await expect.poll(() => keeper.followed()).toHaveLength(2);
    await keeper.stop();
    expect(asked.filter((one) => /^(release|leave)/.test(one)).sort()).toEqual([
      "leave",
      "release v1/pods",
      "release v1/services",
    ]);
  });
});

it("says why a stream cannot be taken up, and takes up the others, and it when it can be", async () => {
  const nodes = { ...pods, stream: "v1/nodes", ref: { ...pods.ref, kind: "Node", plural: "nodes" } };
  const refusals = ["NOPERM it may not"];
  const keeper = keepStreams({
    bridge: "me",
    log: silentLog,
    every: 1,
    bridges: { heartbeat: () => Promise.resolve(["me"]), leave: () => Promise.resolve() },
    store: {
      hold: (stream) => {
        const refusal = stream === pods.stream ? refusals[0] : undefined;
        return refusal === undefined
          ? Promise.resolve({ heldBy: "another", for: 1_000 })
          : Promise.reject(new Error(refusal));
      },
      known: () => Promise.resolve([]),
    },
    follow: () => {
      throw new Error("nothing is held");
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
  await keeper.stop();
});

it("holds a stream once, misses none that it holds, and gives it back at the end", async () => {
  const order: string[] = [];
  const renewedTwice = Promise.withResolvers<undefined>();
  const noting = (word: string) => (): Promise<void> => {
    order.push(word);
    if (order.filter((one) => one === "renew").length === 2) renewedTwice.resolve(undefined);
    return Promise.resolve();
  };
  const held = {
    lost: new AbortController().signal,
    emittedToAll: true,
    position: "1",
    renew: noting("renew"),
    release: noting("release"),
    forget: noting("forget"),
  } as unknown as HeldStream;
  const keeper = keepStreams({
    bridge: "me",
    log: silentLog,
    every: 1,
    bridges: { heartbeat: () => Promise.resolve(["me"]), leave: noting("leave") },
    store: {
      hold: async () => {
        await noting("hold")();
        return order.filter((one) => one === "hold").length === 1 ? held : { heldBy: "me", for: 1_000 };
      },
      known: () => Promise.resolve([]),
    },
    follow: (plan) => ({ plan, stop: noting("stop") }) as unknown as FollowedStream,
  });
  keeper.want([pods], new Set([pods.stream]));
  await renewedTwice.promise;
  expect(keeper.missing()).toEqual([]);
  expect(keeper.followed()).toHaveLength(1);
  await keeper.stop();
  expect(order.filter((one) => one !== "renew")).toEqual(["hold", "stop", "release", "leave"]);
});

describe("a stream that is held", () => {
  const never = new AbortController();
  /** A keeper of streams that are free; `asked` is what became of them, in order, without renewals. */
  function opened(known: readonly string[] = []) {
    const asked: string[] = [];
    const lost = [never, never];
    let turns = 0;
    const keeper = keepStreams({
      bridge: "me",
      log: silentLog,
      every: 1,
      bridges: {
        heartbeat: () => Promise.resolve((turns++, ["me"])),
        leave: () => Promise.resolve(),
      },
      store: {
        hold: (stream, { listeners }) => {
          const { signal } = lost.shift() ?? never;
          const noting = (word: string) => () => Promise.resolve(void asked.push(`${word} ${stream}`));
          void noting(`hold for ${listeners.join()}:`)();
          return Promise.resolve({
            lost: signal,
            position: undefined,
            emittedToAll: false,
            renew: () => Promise.resolve(),
            release: noting("release"),
            forget: noting("forget"),
          } as unknown as HeldStream);
        },
        known: () => Promise.resolve(known),
      },
      follow: (plan) =>
        ({
          plan,
          stop: () => Promise.resolve(void asked.push(`stop ${plan.stream}`)),
        }) as unknown as FollowedStream,
    });
    const turned = async (): Promise<void> => {
      const before = turns;
      await expect.poll(() => turns).toBeGreaterThan(before + 1);
    };
    return { keeper, asked, lost, turned };
  }
  const of = (...listeners: readonly string[]): StreamPlan => ({
    ...pods,
    subscriberSet: { ...pods.subscriberSet, listeners },
  });
  const needed = new Set([pods.stream]);

  it("is let go and taken again when it was lost, and not given back: it is another's by now", async () => {
    const { keeper, asked, lost, turned } = opened();
    const gone = new AbortController();
    lost[0] = gone;
    keeper.want([of("a")], needed);
    await expect.poll(() => asked).toEqual(["hold for a: v1/pods"]);
    gone.abort();
    await expect.poll(() => asked).toHaveLength(3);
    await turned();
    expect(asked).toEqual(["hold for a: v1/pods", "stop v1/pods", "hold for a: v1/pods"]);
    await keeper.stop();
  });

  it("is started again when other queues listen, and otherwise left as it is", async () => {
    const { keeper, asked, turned } = opened();
    keeper.want([of("a")], needed);
    await expect.poll(() => asked).toHaveLength(1);
    keeper.want([of("a")], needed);
    await turned();
    expect(asked).toHaveLength(1);
    keeper.want([of("a", "b")], needed);
    await expect.poll(() => asked).toHaveLength(4);
    expect(asked.slice(1)).toEqual(["stop v1/pods", "release v1/pods", "hold for a,b: v1/pods"]);
    await keeper.stop();
  });

  it("is deleted when no function needs it, and only released while one needs it and it is not followed", async () => {
    const { keeper, asked } = opened();
    keeper.want([of("a")], needed);
    await expect.poll(() => asked).toHaveLength(1);
    keeper.want([], needed);
    await expect.poll(() => asked.slice(1)).toEqual(["stop v1/pods", "release v1/pods"]);
    keeper.want([of("a")], needed);
    await expect.poll(() => asked).toHaveLength(4);
    keeper.want([], new Set());
    await expect.poll(() => asked.slice(4)).toEqual(["stop v1/pods", "forget v1/pods"]);
    await keeper.stop();
  });

  it("that no bridge follows is deleted, where no function needs it", async () => {
    const { keeper, asked, turned } = opened(["v1/pods", "v1/old"]);
    await turned();
    expect(asked).toEqual([]);
    keeper.want([], needed);
    await expect.poll(() => asked).toEqual(["hold for : v1/old", "forget v1/old"]);
    await keeper.stop();
  });
});
