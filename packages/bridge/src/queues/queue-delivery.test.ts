import { objectKey, silentLog } from "@drover/controller";
import { openWorkQueue, type Wake } from "@drover/queue";
import { groupOf } from "../streams/bridge-group.ts";
import { type HeldStream, openStreamStore } from "../store/stream-store.ts";
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

/** Of so many keys wakes are recorded. */
const most = 4;
async function take(stream: string): Promise<HeldStream> {
  const store = openStreamStore({ redis, group: groupOf(), holder: "test", lease: 60_000, mostOwed: most });
  const answer = await store.hold(stream, { scope: "", listeners: ["l"], queues: ["q"] });
  if ("heldBy" in answer) throw new Error("held by another");
  return answer;
}
const wake = (name: string, more: Partial<Wake> = {}): Wake => ({
  key: objectKey({ namespace: "n", name }),
  kind: "things",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
  ...more,
});
/** A queue in the test's hands: what it took, and how it answers. */
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
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 20_000, interval: 5 });
const never = new Promise<never>(() => undefined);
const owed = () => redis.hkeys(`{drover-stream:stream-${streams}}:owed:q`);

it("a queue whose Redis does not answer is waited for no longer than the reply timeout, and not once more", async () => {
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

it("wakes come straight again when a queue has caught up, and before that not out of turn", async () => {
  const queue = queueInHand();
  const delivery = deliver(queue);
  await delivery.deliver([wake("a")]);
  queue.answer = () => Promise.reject(new Error("no"));
  await delivery.deliver([wake("b")]);
  await delivery.deliver([wake("c")]);
  expect(queue.names()).toEqual(["a"]);
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect(queue.names().sort()).toEqual(["a", "b", "c"]);
  expect(await owed()).toEqual([]);
  await delivery.deliver([wake("d", { cachedObject: "{}" })]);
  expect(queue.taken.at(-1)).toMatchObject({ key: "n/d", cachedObject: "{}" });
});

it("a queue that falls behind again is not waited for again during its probation", async () => {
  const queue = queueInHand();
  const times = { replyTimeout: 5_000, longestBackoff: 20, probation: 60_000 };
  const delivery = deliver(queue, { times });
  queue.answer = () => Promise.reject(new Error("no"));
  await delivery.deliver([wake("a")]);
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  queue.answer = () => never;
  const from = performance.now();
  await delivery.deliver([wake("b")]);
  expect(performance.now() - from).toBeLessThan(times.replyTimeout);
  expect(await owed()).toEqual(["n/b"]);
});

it("of a key's wakes the newest is kept, the most urgent class, no cached object, and no delta", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const delivery = deliver(queue);
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
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect([...queue.taken].sort((a, b) => a.key.localeCompare(b.key))).toEqual([
    wake("a", { resourceVersion: "10", uid: "u2", reason: "Listed" }),
    wake("b", { resourceVersion: "2", delta: "" }),
  ]);
});

it("of a pause the newest word is kept, though a wake that knows of none comes last", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const delivery = deliver(queue);
  const own = (resourceVersion: string, paused: boolean) => ({ resourceVersion, uid: "u1", paused });
  await delivery.deliver([
    wake("resumed", own("6", true)),
    wake("resumed", own("7", false)),
    wake("resumed", { resourceVersion: "9" }),
    wake("paused", own("7", true)),
    wake("paused", own("6", false)),
  ]);
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  const taken = Object.fromEntries(queue.taken.map((one) => [one.key, one]));
  expect(taken).toMatchObject({
    "n/resumed": { resourceVersion: "9", paused: false },
    "n/paused": { resourceVersion: "7", paused: true },
  });
});

it("what is recorded while it is handed over is handed over, too", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const delivery = deliver(queue);
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

it("what is recorded while it is looked for the last time whether there is more is handed over, too", async () => {
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

it("a queue that is owed more than is recorded has every key woken, also those that it alone knows, though its bridge dies meanwhile", async () => {
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
  // Its bridge dies in the midst of waking every key.
  await held.owedTo("q").markAll("begin");
  stop.abort();
  await delivery.stopped();
  await held.release();
  stop = new AbortController();
  // By a bridge whose clock is minutes ahead of Redis': it counts by its own.
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

it("a queue has every key woken when another program deleted what it is owed", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const told: string[] = [];
  const allKeys = async function* () {
    told.push("all");
    yield await Promise.resolve([wake("x")]);
  };
  const delivery = deliver(queue, { allKeys });
  await delivery.deliver([wake("a")]);
  await redis.del(`{drover-stream:stream-${streams}}:owed:q`);
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect([told, queue.names(), queue.forcedAll]).toEqual([["all"], ["x"], 1]);
});

it("a queue that falls behind again while its own keys are forced has them forced when it takes wakes again", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const delivery = deliver(queue);
  await delivery.deliver(Array.from({ length: most + 1 }, (_, i) => wake(`new-${i}`)));
  queue.force = () => {
    queue.force = () => Promise.resolve();
    return Promise.reject(new Error("no"));
  };
  queue.answer = () => Promise.resolve();
  await until(() => expect(delivery.lag()).toBeUndefined());
  expect(queue.forcedAll).toBe(1);
});

it("a bridge that has lost the stream records nothing for its queues", async () => {
  const queue = queueInHand();
  queue.answer = () => Promise.reject(new Error("no"));
  const delivery = deliver(queue);
  await redis.hset(`{drover-stream:stream-${streams}}:stream`, "until", 1);
  await take(`stream-${streams}`);
  await expect(delivery.deliver([wake("a")])).rejects.toThrow(/another bridge/);
  expect(held.lost.aborted).toBe(true);
  expect(await owed()).toEqual([]);
});
