import { objectKey, silentLog } from "@drover/controller";
import { openWorkQueue, type Wake } from "@drover/queue";
import { heldStream, openTestStreams, us, wakeOf } from "../store/held-stream.fixture.ts";
import type { HeldStream } from "../store/stream-store.ts";
import type { OwedWakes } from "./owed-wakes.ts";
import { beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { openDelivery, type DeliveryOptions, type QueueDelivery } from "./queue-delivery.ts";

let streams = 0;
let held: HeldStream;
let stop: AbortController;

const { redis } = await redisOfFile();
beforeEach(async () => {
  held = await take(`stream-${++streams}`);
  stop = new AbortController();
  return () => stop.abort();
});

/** Most keys with recorded wakes. */
const most = 4;
const take = (stream: string): Promise<HeldStream> =>
  heldStream(openTestStreams(redis, { mostOwed: most }), stream, { ...us, queues: ["q"] });
const wake = (name: string, more: Partial<Wake> = {}): Wake =>
  wakeOf(objectKey({ namespace: "n", name }), more);
/** A queue with replies that the test sets; `taken` are the wakes that it accepted. */
function queueInHand() {
  const queue = {
    taken: [] as Wake[],
    forcedAll: 0,
    answer: (): Promise<void> => Promise.resolve(),
    async wake(wakes: readonly Wake[]) {
      await queue.answer();
      queue.taken.push(...wakes);
    },
    force: (): Promise<void> => Promise.resolve(),
    async forceAll() {
      await queue.answer();
      await queue.force();
      queue.forcedAll++;
    },
    accept: () => (queue.answer = () => Promise.resolve()),
    refuse: () => (queue.answer = () => Promise.reject(new Error("no"))),
    names: () => queue.taken.map(({ key }) => key.replace("n/", "")),
  };
  return queue;
}
const deliver = (
  queue: ReturnType<DeliveryOptions["workQueue"]>,
  more: Partial<DeliveryOptions> = {},
): QueueDelivery =>
  openDelivery({
    queue: "q",
    workQueue: () => queue,
    owed: held.owedTo("q"),
    signal: stop.signal,
    log: silentLog,
    allKeys: async function* () {},
    onWoken: () => undefined,
    times: { replyTimeout: 30, longestBackoff: 20, probation: 0 },
    ...more,
  });
/** A queue that refuses its wakes, and its delivery. */
function refusing(more: Partial<DeliveryOptions> = {}) {
  const queue = queueInHand();
  queue.refuse();
  return { queue, delivery: deliver(queue, more) };
}
/** The queue accepts wakes again, and has caught up. */
const catchUp = async (queue: ReturnType<typeof queueInHand>, delivery: QueueDelivery): Promise<void> => {
  queue.accept();
  await until(() => expect(delivery.lag()).toBeUndefined());
};
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 20_000, interval: 5 });
const never = new Promise<never>(() => undefined);
const owed = () => redis.hkeys(`{drover-stream:stream-${streams}}:owed:q`);

it("a queue on a Redis that does not reply delays its stream by one reply timeout, and not again", async () => {
  const queue = queueInHand();
  queue.answer = () => never;
  const replyTimeout = 300;
  const delivery = deliver(queue, { times: { replyTimeout, longestBackoff: 20, probation: 0 } });
  await delivery.deliver([wake("a")]);
  expect(delivery.lag()?.why).toMatch(/not answered/);
  const from = performance.now();
  for (let i = 0; i < 20; i++) await delivery.deliver([wake("b", { resourceVersion: String(i) })]);
  expect(performance.now() - from).toBeLessThan(20 * replyTimeout);
  expect(await owed()).toEqual(["n/a", "n/b"]);
});

it("wakes go directly to a queue again when it has caught up, and not before", async () => {
  const queue = queueInHand();
  const delivery = deliver(queue);
  await delivery.deliver([wake("a")]);
  queue.refuse();
  await delivery.deliver([wake("b")]);
  await delivery.deliver([wake("c")]);
  expect(queue.names()).toEqual(["a"]);
  await catchUp(queue, delivery);
  expect(queue.names().sort()).toEqual(["a", "b", "c"]);
  expect(await owed()).toEqual([]);
  await delivery.deliver([wake("d", { cachedObject: "{}" })]);
  expect(queue.taken.at(-1)).toMatchObject({ key: "n/d", cachedObject: "{}" });
});

it("a queue that falls behind again during its probation delays its stream no more", async () => {
  const queue = queueInHand();
  const times = { replyTimeout: 5_000, longestBackoff: 20, probation: 60_000 };
  const delivery = deliver(queue, { times });
  queue.refuse();
  await delivery.deliver([wake("a")]);
  await catchUp(queue, delivery);
  queue.answer = () => never;
  const from = performance.now();
  await delivery.deliver([wake("b")]);
  expect(performance.now() - from).toBeLessThan(times.replyTimeout);
  expect(await owed()).toEqual(["n/b"]);
});

it("of several wakes of a key the newest version and the most urgent class are kept, without cached object and delta", async () => {
  const { queue, delivery } = refusing();
  const newestAfter = { incarnation: "e", at: 1 };
  await delivery.deliver([
    wake("a", { resourceVersion: "9", uid: "u1", class: "listing", cachedObject: "{}", newestAfter }),
    wake("a", {
      resourceVersion: "10",
      uid: "u2",
      class: "listing",
      reason: "Listed",
      cachedObject: "{}",
      newestAfter,
    }),
    wake("a", { resourceVersion: "8", uid: "u0", reason: "Modified" }),
    wake("b", { delta: "{}" }),
    wake("b", { resourceVersion: "2" }),
  ]);
  const kept = await redis.hvals(`{drover-stream:stream-${streams}}:owed:q`);
  expect(kept.join()).not.toMatch(/cachedObject|newestAfter|\{\}/);
  await catchUp(queue, delivery);
  expect([...queue.taken].sort((a, b) => a.key.localeCompare(b.key))).toEqual([
    wake("a", { resourceVersion: "10", uid: "u2", reason: "Listed" }),
    wake("b", { resourceVersion: "2", delta: "" }),
  ]);
});

it("the newest `paused` is kept, even if the last wake carries none", async () => {
  const { queue, delivery } = refusing();
  const own = (resourceVersion: string, paused: boolean) => ({ resourceVersion, uid: "u1", paused });
  await delivery.deliver([
    wake("resumed", own("6", true)),
    wake("resumed", own("7", false)),
    wake("resumed", { resourceVersion: "9" }),
    wake("paused", own("7", true)),
    wake("paused", own("6", false)),
  ]);
  await catchUp(queue, delivery);
  const taken = Object.fromEntries(queue.taken.map((one) => [one.key, one]));
  expect(taken).toMatchObject({
    "n/resumed": { resourceVersion: "9", paused: false },
    "n/paused": { resourceVersion: "7", paused: true },
  });
});

it("wakes that are recorded during a delivery are delivered, too", async () => {
  const { queue, delivery } = refusing();
  await delivery.deliver([wake("a")]);
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<undefined>();
  queue.answer = async () => {
    asked.resolve(undefined);
    await answer.promise;
  };
  await asked.promise;
  await delivery.deliver([wake("a", { resourceVersion: "2" }), wake("b")]);
  answer.resolve(undefined);
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect(queue.taken.map(({ key, resourceVersion }) => `${key} ${resourceVersion}`)).toEqual(
    expect.arrayContaining(["n/a 1", "n/a 2", "n/b 1"]),
  );
  expect(await owed()).toEqual([]);
});

it("wakes that are recorded during the last check for more are delivered, too", async () => {
  const queue = queueInHand();
  const recorded: Wake[] = [];
  const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let looks = 0;
  const remaining = async () => {
    const left = { keys: recorded.length, all: false };
    if (++looks === 2) {
      asked.resolve(undefined);
      await answered.promise;
    }
    return left;
  };
  const owed: OwedWakes = {
    since: Date.now(),
    remaining,
    markAll: remaining,
    ping: () => Promise.resolve(),
    add: (wakes) => Promise.resolve(void recorded.push(...wakes)),
    remove: () => Promise.resolve({ keys: 0, all: false }),
    async *batches() {
      yield await Promise.resolve({ wakes: recorded.splice(0), texts: [] });
    },
  };
  const delivery = deliver(queue, { owed });
  await asked.promise;
  await delivery.deliver([wake("a")]);
  answered.resolve(undefined);
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect(queue.names()).toEqual(["a"]);
});

it("a queue that is owed more wakes than are recorded has every key woken, also those that only its ledger has, even if its bridge dies meanwhile", async () => {
  const queue = openWorkQueue({ redis, controller: `q${streams}`, log: silentLog });
  const control = `{drover:q${streams}}:control`;
  const key = (name: string) => `{drover:q${streams}}:key:n/${name}`;
  await queue.wake([wake("gone"), wake("there")]);
  await redis.hset(control, "schema", 999);
  const allKeys = async function* () {
    yield await Promise.resolve([wake("there", { resourceVersion: "5" })]);
  };
  const delivery = deliver(queue, { allKeys });
  await delivery.deliver(Array.from({ length: most + 1 }, (_, i) => wake(`new-${i}`)));
  expect(await owed()).toEqual([]);
  // Its bridge dies while it wakes every key.
  await held.owedTo("q").markAll("begin");
  stop.abort();
  await delivery.stopped();
  await held.release();
  stop = new AbortController();
  // The next bridge's clock is minutes ahead of the clock of Redis: it counts by its own.
  const now = Date.now() + 420_000;
  const clock = vi.spyOn(Date, "now").mockReturnValue(now);
  held = await take(`stream-${streams}`);
  clock.mockRestore();
  expect(held.owedTo("q").since).toBeGreaterThan(now - 120_000);
  expect(held.owedTo("q").since).toBeLessThanOrEqual(now);
  await redis.hdel(control, "schema");
  const next = deliver(queue, { allKeys, owed: held.owedTo("q") });
  await until(() => expect(next.lag()).toBeUndefined());
  expect(await redis.hget(key("there"), "version:things")).toBe("5");
  for (const name of ["gone", "there"])
    expect(Number(await redis.hget(key(name), "wakes"))).toBeGreaterThan(1);
  expect(await redis.exists(`{drover-stream:stream-${streams}}:behind`)).toBe(0);
  await queue.close();
});

it("a queue has every key woken if another program deleted its owed wakes", async () => {
  let lists = 0;
  const allKeys = async function* () {
    lists++;
    yield await Promise.resolve([wake("x")]);
  };
  const { queue, delivery } = refusing({ allKeys });
  await delivery.deliver([wake("a")]);
  await redis.del(`{drover-stream:stream-${streams}}:owed:q`);
  await catchUp(queue, delivery);
  expect([lists, queue.names(), queue.forcedAll]).toEqual([1, ["x"], 1]);
});

it("a queue that falls behind while its own keys are forced has them forced when it accepts wakes again", async () => {
  const { queue, delivery } = refusing();
  await delivery.deliver(Array.from({ length: most + 1 }, (_, i) => wake(`new-${i}`)));
  queue.force = () => {
    queue.force = () => Promise.resolve();
    return Promise.reject(new Error("no"));
  };
  await catchUp(queue, delivery);
  expect(queue.forcedAll).toBe(1);
});

it("a bridge that has lost the stream records nothing for its queues", async () => {
  const { delivery } = refusing();
  await redis.hset(`{drover-stream:stream-${streams}}:stream`, "until", 1);
  await take(`stream-${streams}`);
  await expect(delivery.deliver([wake("a")])).rejects.toThrow(/another bridge/);
  expect(held.lost.aborted).toBe(true);
  expect(await owed()).toEqual([]);
});
