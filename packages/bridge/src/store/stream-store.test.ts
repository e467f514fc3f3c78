import { once } from "node:events";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { joinGroup } from "../streams/group-membership.ts";
import { objectKey, silentLog } from "@drover/controller";
import type { SeenObject } from "@drover/kube";
import { connectRedis, disconnectRedis, type RedisRole } from "@drover/queue";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { openCampaigns } from "../campaigns/campaign-store.ts";
import { openReverseIndexes } from "./reverse-indexes.ts";
import { groupOf } from "../streams/bridge-group.ts";
import { connectAs } from "../redis-user.fixture.ts";
import { heldStream, openTestStreams, seenChange as change, us, wakeOf } from "./held-stream.fixture.ts";
import { type IndexUpdate, type HeldStream, StreamLostError, type StreamStore } from "./stream-store.ts";

const group = groupOf();
let stream: string;
let store: StreamStore;
let streams = 0;

const { server, redis } = await redisOfFile();
beforeEach(() => {
  stream = `apps/v1/things-${streams++}`;
  store = openTestStreams(redis);
});

const key = (name: string) => objectKey({ namespace: "default", name });
const seen = (name: string, resourceVersion = "5"): SeenObject => ({
  key: key(name),
  uid: `uid-${name}`,
  resourceVersion,
  matched: { own: { view: "v", keys: [key(name)] }, owner: { view: resourceVersion, keys: [key("other")] } },
});
const hold = (subscribers = us): Promise<HeldStream> => heldStream(store, stream, subscribers);
/** Takes the stream, and writes a list of these objects with its position. */
const holdWith = async (put: readonly SeenObject[], position: string, subscribers = us) => {
  const held = await hold(subscribers);
  await held.seen.write(change({ put, position, whole: true }));
  return held;
};
const all = async ({ seen: index }: HeldStream): Promise<readonly SeenObject[]> =>
  (await Array.fromAsync(index.allBut(new Set()))).flat();
/** As when it was not renewed for the time of a lease. */
const end = () => redis.hset(`{drover-stream:${stream}}:stream`, "until", 1);

describe("a stream", () => {
  test("without emitted changes has no position", async () => {
    expect(await hold()).toMatchObject({ position: undefined, emittedToAll: false });
  });

  test("resumes at the position of its last holder, with all that it has seen", async () => {
    const first = await holdWith([seen("a"), seen("b"), seen("c")], "7");
    await first.seen.write(change({ put: [seen("a", "8")], forget: [key("b")], position: "8" }));
    await first.release();
    const second = await hold();
    expect(second).toMatchObject({ position: "8", emittedToAll: true });
    expect(await second.seen.get([key("c"), key("b"), key("a")])).toEqual([
      seen("c"),
      undefined,
      seen("a", "8"),
    ]);
    expect((await all(second)).map((one) => one.key).sort()).toEqual([key("a"), key("c")]);
    expect(await Array.fromAsync(second.seen.allBut(new Set([key("a")])))).toEqual([[seen("c")]]);
  });

  test.each<[string, typeof us]>([
    ["a subscriber that was added since", { ...us, listeners: ["us", "you"] }],
    ["subscribers of another part of the kind", { ...us, scope: "some" }],
  ])("was not emitted to %s", async (_what, subscribers) => {
    const first = await holdWith([seen("a")], "7");
    await first.release();
    expect(await hold(subscribers)).toMatchObject({ position: "7", emittedToAll: false });
  });

  test("was emitted to the subscribers that stay, and not to one that was gone in between", async () => {
    const both = { ...us, listeners: ["us", "you"] };
    const first = await holdWith([seen("a")], "7", both);
    await first.release();
    const alone = await hold();
    expect(alone).toMatchObject({ position: "7", emittedToAll: true });
    await alone.release();
    expect(await hold(both)).toMatchObject({ position: "7", emittedToAll: false });
  });

  test("with an interrupted first list lists again, and has seen the objects that were emitted", async () => {
    const first = await hold();
    await first.seen.write(change({ put: [seen("a")] }));
    await first.release();
    const second = await hold();
    expect(second).toMatchObject({ position: undefined, emittedToAll: false });
    expect(await all(second)).toEqual([seen("a")]);
  });

  test("drops the owed wakes of queues without a subscriber, and keeps those of others", async () => {
    const first = await hold({ ...us, queues: ["a", "b"] });
    for (const queue of ["a", "b"]) await first.owedTo(queue).add([wakeOf(key(queue))]);
    await first.release();
    const second = await hold();
    expect(await second.owedTo("a").remaining()).toEqual({ keys: 1, all: false });
    expect(await second.owedTo("b").remaining()).toEqual({ keys: 0, all: false });
    expect(await redis.keys(`{drover-stream:${stream}}:owed:*`)).toEqual([
      `{drover-stream:${stream}}:owed:a`,
    ]);
  });

  test("that is forgotten leaves no keys in Redis", async () => {
    const held = await holdWith([seen("a")], "7");
    await held.owedTo("a").add([wakeOf(key("a"))]);
    expect(await store.known()).toContain(stream);
    await held.forget();
    expect(await redis.keys(`{drover-stream:${stream}}*`)).toEqual([]);
    expect(await store.known()).not.toContain(stream);
  });
});

describe("a lease", () => {
  test("keeps others away until it ends", async () => {
    await hold();
    const answer = await store.hold(stream, us);
    expect(answer).toMatchObject({ heldBy: "bridge-1" });
    await end();
    expect(await store.hold(stream, us)).toHaveProperty("seen");
  });

  test("that ended is still valid if no other bridge has taken the stream", async () => {
    const held = await hold();
    await end();
    await held.renew();
    await held.seen.write(change({ position: "7" }));
    expect(held.lost.aborted).toBe(false);
    expect(await store.hold(stream, us)).toHaveProperty("heldBy");
  });

  test("that was taken over writes nothing more, and fires `lost`", async () => {
    const stale = await holdWith([seen("a")], "7");
    await end();
    const fresh = await hold();
    await stale.seen.write(change({ put: [seen("a", "9")], position: "9" }));
    await once(stale.lost, "abort");
    await expect(stale.seen.write(change({ position: "10" }))).rejects.toThrow(StreamLostError);
    await stale.release();
    expect(await store.hold(stream, us)).toHaveProperty("heldBy");
    expect(await fresh.seen.get([key("a")])).toEqual([seen("a")]);
  });
});

describe("a server that lost the end of what was written", () => {
  test("is not written the buffered changes when their holder releases the stream", async () => {
    const held = await holdWith([seen("a")], "7");
    await held.seen.write(change({ put: [seen("a", "9")], position: "9" }));
    await redis.hset(`{drover-stream:${stream}}:stream`, "writes", 0);
    await held.release();
    expect(held.lost.reason).toBeInstanceOf(StreamLostError);
    const next = await hold();
    expect(next.position).toBe("7");
    expect(await next.seen.get([key("a")])).toEqual([seen("a")]);
  });

  test("is noticed by a renewal, and the stream resumes at the position that is left", async () => {
    const held = await holdWith([seen("a")], "7");
    const dump = await redis.hgetall(`{drover-stream:${stream}}:stream`);
    await held.seen.write(change({ put: [seen("a", "9")], position: "9", whole: true }));
    await redis.hset(`{drover-stream:${stream}}:stream`, dump);
    await held.renew();
    expect(held.lost.aborted).toBe(true);
    await end();
    expect(await hold()).toMatchObject({ position: "7" });
  });

  test("is another server: no position is written there, even if it follows the stored one", async () => {
    const held = await holdWith([], "7");
    // The server may lack changes that were emitted before this write.
    await redis.hset(`{drover-stream:${stream}}:stream`, "server", "another");
    await expect(held.seen.write(change({ position: "9", whole: true }))).rejects.toThrow(StreamLostError);
    await end();
    expect(await hold()).toMatchObject({ position: "7" });
  });

  test("and has no data left has the stream listed again", async () => {
    const held = await holdWith([seen("a")], "7");
    await redis.flushall();
    await held.renew();
    expect(held.lost.aborted).toBe(true);
    const second = await hold();
    expect(second).toMatchObject({ position: undefined });
    expect(await all(second)).toEqual([]);
  });
});

test("a write with a lost reply is not repeated", async () => {
  const held = await holdWith([], "7");
  const before = await redis.hget(`{drover-stream:${stream}}:stream`, "writes");
  await redis.hset(`{drover-stream:${stream}}:stream`, "writes", 2); // as if it had been written
  await held.seen.write(change({ position: "8", whole: true }));
  expect(before).toBe("1");
  expect(await redis.hmget(`{drover-stream:${stream}}:stream`, "writes", "position")).toEqual(["2", "7"]);
});

describe("a change of an object that was emitted before", () => {
  const inRedis = async (): Promise<readonly (string | null)[]> => [
    ...(await redis.hmget(`{drover-stream:${stream}}:stream`, "writes", "position")),
    ...(await redis.hmget(`{drover-stream:${stream}}:seen`, key("a"), key("b"))).map(
      (record) => record?.split('"')[3] ?? null,
    ),
  ];
  const newer = { ...seen("a"), resourceVersion: "6" };
  const held = async (): Promise<HeldStream> => {
    const ours = await holdWith([seen("a")], "5");
    await ours.seen.write(change({ put: [newer], position: "6" }));
    return ours;
  };

  test("is written with the next new object", async () => {
    const ours = await held();
    expect(await inRedis()).toEqual(["1", "5", "5", null]);
    await ours.seen.write(change({ put: [seen("b", "7")], position: "7" }));
    expect(await inRedis()).toEqual(["2", "7", "6", "7"]);
  });

  test("is written with its own position if the next change has none", async () => {
    const ours = await held();
    await ours.seen.write(change({ put: [seen("b", "7")] }));
    expect(await inRedis()).toEqual(["2", "6", "6", "7"]);
  });

  test("is written at once if the buffer is full", async () => {
    const ours = await hold();
    const many = (version: string) => Array.from({ length: 1_001 }, (_, i) => seen(`o${i}`, version));
    await ours.seen.write(change({ put: [...many("5"), seen("a")], position: "5", whole: true }));
    await ours.seen.write(change({ put: many("6"), position: "6" }));
    expect(await redis.hget(`{drover-stream:${stream}}:stream`, "position")).toBe("6");
  });

  test("is written soon without another change, and when the stream is released", async () => {
    const ours = await held();
    await vi.waitFor(async () => expect(await inRedis()).toEqual(["2", "6", "6", null]));
    await ours.seen.write(change({ position: "9" }));
    await ours.release();
    expect(await inRedis()).toEqual(["3", "9", "6", null]);
  });

  test("is read back before it is written, and so is a deletion", async () => {
    const ours = await held();
    expect(await ours.seen.get([key("a")])).toEqual([newer]);
    await ours.seen.write(change({ forget: [key("a")], position: "8" }));
    expect(await ours.seen.get([key("a")])).toEqual([undefined]);
    expect(await inRedis()).toEqual(["1", "5", "5", null]);
  });

  test("is not written after its object is deleted, or the stream lost", async () => {
    const ours = await held();
    await ours.seen.write(change({ forget: [key("a")], position: "8" }));
    expect(await all(ours)).toEqual([]);
    expect(await inRedis()).toEqual(["2", "8", null, null]);
    await ours.seen.write(change({ position: "9" }));
    await redis.hset(`{drover-stream:${stream}}:stream`, "token", "another's");
    await ours.renew();
    await expect(ours.seen.write(change({ position: "10" }))).rejects.toThrow(StreamLostError);
    await ours.release();
    expect(await inRedis()).toEqual(["2", "8", null, null]);
  });

  test("that Redis does not accept loses the stream, which resumes at the position before it", async () => {
    const connection = await connectRedis({ url: server.url, clientName: "own", log: silentLog });
    const ours = await heldStream(openTestStreams(connection), stream);
    await ours.seen.write(change({ put: [seen("a")], position: "5", whole: true }));
    await ours.seen.write(change({ put: [newer], position: "6" }));
    connection.disconnect();
    await once(ours.lost, "abort");
    await end();
    expect(await hold()).toMatchObject({ position: "5" });
  });

  test("is written at once if it also concerns another subscription, which may look it up", async () => {
    const ours = await held();
    const matched = { ...newer.matched, others: { view: "v", keys: [] } };
    await ours.seen.write(change({ put: [{ ...newer, matched }], position: "7" }));
    expect(await inRedis()).toEqual(["2", "7", "6", null]);
  });

  test("is in the index that a list is compared with", async () => {
    const ours = await held();
    expect(await all(ours)).toEqual([newer]);
  });
});

describe("a value that another program wrote", () => {
  test("in place of a record counts as not seen", async () => {
    const held = await holdWith([seen("a"), seen("b"), seen("c")], "7");
    await redis.hset(`{drover-stream:${stream}}:seen`, key("a"), "garbage", key("b"), "[1]", "%", "[]");
    await held.release();
    const next = await hold();
    expect(await next.seen.get([key("a"), key("b"), key("c")])).toEqual([undefined, undefined, seen("c")]);
    expect((await all(next)).map((one) => one.key)).toEqual([key("c")]);
  });

  test.each(["seen", "stream"])(
    "in place of the %s hash is moved to quarantine, and the stream begins again",
    async (name) => {
      const held = await holdWith([seen("a")], "7");
      await redis.set(`{drover-stream:${stream}}:${name}`, "garbage");
      await expect(held.seen.write(change({ put: [seen("b")], position: "8" }))).rejects.toThrow(
        StreamLostError,
      );
      expect(await hold()).toMatchObject({ position: undefined });
      expect(await redis.get(`{drover-stream:${stream}}:quarantine`)).toBe("garbage");
    },
  );
});

test("a position is written only after all changes before it, also if they do not fit into one write", async () => {
  const held = await holdWith([seen("a")], "5");
  // More than Redis takes at once.
  const large = { ...seen("large"), uid: "x".repeat(2 ** 21) };
  const put = [...Array.from({ length: 1_000 }, (_, i) => seen(`o${i}`)), large];
  await expect(held.seen.write(change({ put, position: "9", whole: true }))).rejects.toThrow(StreamLostError);
  expect(await redis.hmget(`{drover-stream:${stream}}:stream`, "writes", "position")).toEqual(["2", "5"]);
});

test("2,000 objects are written and read in one piece", async () => {
  const held = await hold();
  const many = Array.from({ length: 2_000 }, (_, index) => seen(`o${index}`));
  await held.seen.write(change({ put: many, position: "7", whole: true }));
  await held.release();
  const next = await hold();
  expect(await next.seen.get(many.map((one) => one.key))).toEqual(many);
  expect(await all(next)).toHaveLength(2_000);
  await next.seen.write(change({ forget: many.map((one) => one.key) }));
  expect(await all(next)).toEqual([]);
});

test("objects that a bridge has written itself are not read from Redis", async () => {
  const held = await holdWith([seen("a"), seen("b"), seen("c")], "7");
  await held.release();
  const next = await hold();
  await next.seen.write(change({ put: [seen("a", "8"), seen("b", "8")], position: "8" }));
  await next.seen.write(change({ forget: [key("b")], position: "9" }));
  const asked = vi.spyOn(redis, "hmget");
  expect(await next.seen.get([key("a"), key("c")])).toEqual([seen("a", "8"), seen("c")]);
  expect(await next.seen.get([key("a")])).toEqual([seen("a", "8")]);
  expect(await next.seen.get([key("b")])).toEqual([undefined]);
  expect(asked.mock.calls.map(([, ...keys]) => keys)).toEqual([[key("c")]]);
  asked.mockRestore();
});

test("a bridge keeps at most 10,000 written objects in memory", async () => {
  const held = await hold();
  const many = Array.from({ length: 10_001 }, (_, index) => seen(`o${index}`));
  await held.seen.write(change({ put: many, position: "7", whole: true }));
  const asked = vi.spyOn(redis, "hmget");
  expect(await held.seen.get([key("o0"), key("o1")])).toEqual([seen("o0"), seen("o1")]);
  expect(asked.mock.calls.map(([, ...keys]) => keys)).toEqual([[key("o0")]]);
  asked.mockRestore();
});

test.each([
  { role: "bridge", others: "function", group: groupOf() },
  { role: "embedded", others: "function", group: groupOf("a") },
  { role: "bridge", others: "embedded", group: groupOf() },
] as const)(
  "the Redis user of role $role may do all of this, and that of role $others nothing",
  async ({ role, others, group }) => {
    const as = (one: RedisRole) => connectAs(one, server, redis);
    const [bridge, other] = [await as(role), await as(others)];
    await redis.call("ACL", "LOG", "RESET");
    const mine = openTestStreams(bridge, { group });
    const held = await heldStream(mine, stream);
    await held.seen.write(
      change({ put: [seen("a"), seen("b")], forget: [key("b")], position: "7", whole: true }),
    );
    expect(await held.seen.get([key("a")])).toHaveLength(1);
    expect(await all(held)).toHaveLength(1);
    await redis.set(`${group.prefixOf(stream)}:seen`, "garbage");
    await held.renew();
    const again = await heldStream(mine, stream);
    const entries = { refs: [{ term: "s", note: "" }] };
    await again.updateIndexes([{ key: key("a"), entries }]);
    expect(
      await Array.fromAsync(
        openReverseIndexes(bridge, group).find({ stream, index: "refs" }, [{ sought: ["s"] }]),
      ),
    ).toHaveLength(1);
    await again.seen.write(change({ position: "8", whole: true }));
    await again.release();
    const fewer = await heldStream(mine, stream, { ...us, listeners: [] });
    await fewer.release();
    const last = await heldStream(mine, stream);
    await last.forget();
    const bridges = joinGroup(bridge, group, "b", 60_000);
    expect(await bridges.heartbeat()).toContain("b");
    await bridges.leave();
    expect(await redis.call("ACL", "LOG")).toEqual([]);
    await expect(openTestStreams(other, { group }).hold(stream, us)).rejects.toThrow(/permi/i);
    await Promise.all([bridge, other].map(disconnectRedis));
  },
);

describe("the index entries of objects", () => {
  const selector = JSON.stringify({ matchLabels: { a: "1" }, matchExpressions: [] });
  const found = async (index: string, ...sought: readonly string[]) => [
    ...new Set(
      (await Array.fromAsync(openReverseIndexes(redis, group).find({ stream, index }, [{ sought }]))).flatMap(
        ({ keys }) => keys,
      ),
    ),
  ];
  const under = (name: string, entries: IndexUpdate["entries"]): IndexUpdate => ({ key: key(name), entries });
  const term = (text: string, note = "") => [{ term: text, note }];

  test("find them until they are replaced", async () => {
    const held = await hold();
    await held.updateIndexes([
      under("a", { refs: term("s1") }),
      under("b", { refs: [...term("s1"), ...term("s2")] }),
    ]);
    expect(await found("refs", "s1")).toEqual([key("a"), key("b")]);
    expect(await found("refs", "s1", "s2")).toEqual([key("a"), key("b")]);
    expect(await found("refs", "s")).toEqual([]);
    await held.updateIndexes([under("b", { refs: term("s2") }), under("a", {})]);
    expect(await found("refs", "s1")).toEqual([]);
    expect(await found("refs", "s2")).toEqual([key("b")]);
    // An object without entries has no record.
    expect(await redis.hkeys(`{drover-stream:${stream}}:filed`)).toEqual([key("b")]);
  });

  test("find only the objects that match", async () => {
    const held = await hold();
    await held.updateIndexes([under("a", { sel: term("ns|a=1", selector) })]);
    expect(await found("sel", "ns|", "ns|a=1")).toEqual([key("a")]);
    await held.updateIndexes([under("a", { sel: term("ns|b=1", selector) })]);
    expect(await found("sel", "ns|", "ns|b=1")).toEqual([]);
  });

  test("find any number of objects, for each query", async () => {
    const held = await hold();
    const names = Array.from({ length: 1_200 }, (_, i) => `o${String(i).padStart(4, "0")}`);
    await held.updateIndexes(
      names.map((name, i) => under(name, { refs: term(i % 12 === 0 ? "few" : "many") })),
    );
    const counts = { few: 0, many: 0, none: 0 };
    const questions = (["many", "few", "none"] as const).map((of) => ({ of, sought: [of] }));
    for await (const { question, keys } of openReverseIndexes(redis, group).find(
      { stream, index: "refs" },
      questions,
    ))
      counts[question.of] += keys.length;
    expect(counts).toEqual({ few: 100, many: 1_100, none: 0 });
    expect(await found("refs", "many")).toHaveLength(1_100);
  });

  test("are written only by the holder of the stream", async () => {
    const first = await hold();
    await end();
    const second = await hold();
    await expect(first.updateIndexes([under("a", { refs: term("s1") })])).rejects.toThrow(StreamLostError);
    await second.updateIndexes([under("a", { refs: term("s2") })]);
    expect(await found("refs", "s1", "s2")).toEqual([key("a")]);
  });

  test("are dropped with their subscription, and all with the stream", async () => {
    const both = { ...us, listeners: ["us", "refs", "sel"] };
    const first = await hold(both);
    await first.updateIndexes([under("a", { refs: term("s1"), sel: term("ns|") })]);
    await first.seen.write(change({ put: [seen("a")], position: "7", whole: true }));
    await first.release();
    const second = await hold({ ...us, listeners: ["us", "sel"] });
    expect(await found("refs", "s1")).toEqual([]);
    expect(await found("sel", "ns|")).toEqual([key("a")]);
    await second.updateIndexes([under("a", { sel: term("other|") })]);
    expect([await found("sel", "ns|"), await found("sel", "other|")]).toEqual([[], [key("a")]]);
    await second.forget();
    expect(await redis.keys(`{drover-stream:${stream}}:*`)).toEqual([]);
  });

  test("are written again, and all objects emitted, if another program replaced an index", async () => {
    const first = await hold();
    await first.updateIndexes([under("a", { refs: term("s1") })]);
    await first.seen.write(change({ put: [seen("a")], position: "7", whole: true }));
    await redis.set(`{drover-stream:${stream}}:file:refs`, "what is this");
    await first.renew();
    expect(first.lost.aborted).toBe(true);
    const again = await hold();
    expect(again).toMatchObject({ position: undefined });
    // Otherwise no event would be emitted, and no entries written again.
    expect(await again.seen.get([key("a")])).toEqual([undefined]);
    expect(await redis.exists(`{drover-stream:${stream}}:quarantine`)).toBe(1);
  });
});

test("a campaign's objects are those that map to its controller", async () => {
  const held = await hold();
  const other = { ...seen("b"), matched: { owner: { view: "5", keys: [] } } };
  await held.seen.write(change({ put: [seen("a"), other], position: "7", whole: true }));
  const objects = await Array.fromAsync(
    openCampaigns(redis, group).objects([{ stream, subscription: "own" }]),
  );
  expect(objects.flat()).toEqual([key("a")]);
});

test("the lookup terms of an object are stored", async () => {
  const held = await hold();
  const matched = { sel: { view: "5", keys: [], sought: ["ns|", "ns|a=1", key("a")] } };
  await held.seen.write(change({ put: [{ ...seen("a"), matched }], position: "7", whole: true }));
  await held.release();
  expect(await (await hold()).seen.get([key("a")])).toEqual([{ ...seen("a"), matched }]);
});
