import { objectKey, silentLog } from "@drover/controller";
import { startRedis } from "@drover/local-servers";
import { Queue } from "bullmq";
import { expect, it, vi } from "vitest";
import { connectRedis, hasWorkQueue, openWorkQueue } from "../index.ts";
import { redisOfFile } from "../redis/redis.fixture.ts";
import {
  key,
  type OpenWorkQueue,
  wakeOf,
  workQueueContract,
  workQueueUnderTest,
} from "./work-queue.contract.ts";

const { server, redis } = await redisOfFile({ persistence: true });
const open: OpenWorkQueue = (options) => ({
  queue: openWorkQueue({ ...options, redis }),
  async replaceServer() {
    await redis.flushall();
  },
});

workQueueContract(open);

const t = workQueueUnderTest(open);

it("a controller that has said something to Redis is told from one that never has", async () => {
  await t.queue.wake([wakeOf(key)]);
  expect(await hasWorkQueue(redis, t.queue.controller)).toBe(true);
  expect(await hasWorkQueue(redis, `${t.queue.controller}.not`)).toBe(false);
});

it("adds jobs again when all are lost", async () => {
  await t.queue.wake([wakeOf(key)]);
  const lost = await vi.waitFor(async () => {
    const jobs = await redis.keys(`{drover:${t.queue.controller}}:jobs:*`);
    expect(jobs).toContain(`{drover:${t.queue.controller}}:jobs:wait`);
    return redis.del(...jobs);
  }, 10_000);
  expect(lost).toBeGreaterThan(0);
  const { outcomes } = t.work();
  await vi.waitFor(() => expect(outcomes).toEqual(["done"]), { timeout: 10_000 });
});

it("finds a key again that somebody else took out of all its sets, and every job of it", async () => {
  await t.queue.wake([wakeOf(key)]);
  const names = await redis.keys(`{drover:${t.queue.controller}}:*`);
  const isElsewhere = /:(dispatched|ready|flows:change|queue:.*|jobs:.*)$/;
  await redis.del(names.filter((name) => isElsewhere.test(name)));
  const { outcomes } = t.work();
  await vi.waitFor(() => expect(outcomes).toEqual(["done"]), { timeout: 20_000 });
});

it("fails the job of a failed run and completes every other, also one that finds nothing to do", async () => {
  const jobs = new Queue("jobs", { connection: redis, prefix: `{drover:${t.queue.controller}}` });
  const { outcomes } = t.work(() =>
    Promise.resolve(outcomes.length === 0 ? { kind: "retry", error: "no such bucket" } : { kind: "done" }),
  );
  await t.queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(outcomes).toEqual(["retry", "done"]), { timeout: 10_000 });
  await jobs.add("claim", { key }, { removeOnComplete: true });
  await vi.waitFor(async () => {
    const { failed, waiting, active, completed } = await jobs.getJobCounts();
    expect({ failed, waiting, active, completed }).toEqual({
      failed: 1,
      waiting: 0,
      active: 0,
      completed: 0,
    });
  }, 10_000);
  expect((await jobs.getFailed()).map((job) => job.failedReason)).toEqual(["no such bucket"]);
  expect(outcomes).toHaveLength(2);
  await jobs.close();
});

it("goes on when somebody else has made garbage of all that BullMQ keeps", async () => {
  const { outcomes } = t.work();
  await t.queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(outcomes).toHaveLength(1), { timeout: 10_000 });
  const jobs = `{drover:${t.queue.controller}}:jobs`;
  for (const name of ["wait", "active", "marker", "meta", "events", "stalled", "failed", "stalled-check"]) {
    await redis.set(`${jobs}:${name}`, "garbage");
  }
  await t.queue.wake([wakeOf(objectKey({ name: "another" }))]);
  await vi.waitFor(() => expect(outcomes).toHaveLength(2), { timeout: 60_000 });
});

it("shows a run that failed under its own key, also where it was chained", async () => {
  const jobs = new Queue<unknown>("jobs", { connection: redis, prefix: `{drover:${t.queue.controller}}` });
  const keys = ["first", "second", "third"].map((name) => objectKey({ namespace: "a", name }));
  const [first, second] = keys;
  await t.queue.wake(keys.map(wakeOf)); // one job, since there is no worker yet
  await expect.poll(() => jobs.getWaitingCount(), { timeout: 10_000 }).toBe(1);
  const { outcomes } = t.work(
    (run) => Promise.resolve(run.key === first ? { kind: "done" } : { kind: "terminal", error: run.key }),
    { concurrency: 1 },
  );
  await vi.waitFor(() => expect(outcomes).toHaveLength(3), { timeout: 10_000 });
  const failed = async () => (await jobs.getFailed()).map((job) => [job.data, job.failedReason]);
  await expect.poll(failed).toHaveLength(2);
  expect(await failed()).toContainEqual([{ key: second }, second]);
  await jobs.close();
});

it("tells a wake again that Redis refuses for want of memory, until it takes it", async () => {
  await t.queue.stats(10_000); // what the first script of all does is not refused: it begins by removing keys
  await redis.config("SET", "maxmemory", "1");
  let recorded = false;
  const waking = t.queue.wake([wakeOf(key)]).then(() => (recorded = true));
  await expect(redis.set("x", "y")).rejects.toThrow(/OOM/);
  expect(recorded).toBe(false);
  await redis.config("SET", "maxmemory", "0");
  await waking;
  expect(await t.queue.stats(10_000)).toMatchObject({ due: 1 });
});

it("rejects a wake with the first refusal, for a caller that wants no retry", async () => {
  await t.queue.stats(10_000);
  await redis.hset(`{drover:${t.queue.controller}}:control`, "schema", 999);
  await expect(t.queue.wake([wakeOf(key)], { retry: false })).rejects.toThrow(/SCHEMA 999/);
  await expect(t.queue.forceAll({ retry: false })).resolves.toBeUndefined(); // it knows of no key
  await redis.hdel(`{drover:${t.queue.controller}}:control`, "schema");
  expect(await t.queue.stats(10_000)).toMatchObject({ due: 0 });
});

it("ends the wait for a wake when the caller's signal fires, though Redis is away", async () => {
  await t.queue.stats(10_000);
  await server.kill();
  const leave = new AbortController();
  const waking = t.queue.wake([wakeOf(key)], { signal: leave.signal });
  leave.abort(new Error("waited long enough"));
  await expect(waking).rejects.toThrow("waited long enough");
  await server.restart();
  await t.queue.wake([wakeOf(key)]);
  await vi.waitFor(async () => expect(await t.queue.stats(10_000)).toMatchObject({ due: 1 }), 20_000);
});

it("begins once it may, where its user was permitted nothing when it was opened", async () => {
  await redis.call("ACL", "SETUSER", "late", "reset", "on", ">secret", "~*", "+@all");
  const url = server.url.replace("//", "//late:secret@");
  const late = await connectRedis({ url, clientName: "late", log: silentLog });
  const refused = Promise.withResolvers<undefined>();
  const log = { ...silentLog, warn: () => refused.resolve(undefined) };
  await redis.call("ACL", "SETUSER", "late", "-@all");
  const queue = openWorkQueue({ redis: late, controller: t.queue.controller, log });
  const ran = Promise.withResolvers<undefined>();
  const handler = () => (ran.resolve(undefined), Promise.resolve({ kind: "done" } as const));
  const worker = queue.work(handler, { concurrency: 1, timeout: 1_000 });
  await refused.promise;
  await redis.call("ACL", "SETUSER", "late", "+@all");
  await t.queue.wake([wakeOf(key)]);
  await ran.promise;
  await worker.drain(0);
  await queue.close();
  late.disconnect();
});

it("goes on after Redis was killed: nothing acknowledged is lost", async () => {
  const keys = Array.from({ length: 50 }, (_, i) => objectKey({ name: `n${i}` }));
  await t.queue.wake(keys.map(wakeOf));
  await server.kill();
  const { ran } = t.work();
  await server.restart();
  await vi.waitFor(() => expect(new Set(ran).size).toBe(50), { timeout: 20_000 });
});

it("drains also in the moment in which its connections are made anew", async () => {
  const { worker, outcomes } = t.work();
  await t.queue.wake([wakeOf(key)]);
  await vi.waitFor(() => expect(outcomes).toHaveLength(1), { timeout: 10_000 });
  // Not events.once(): that rejects when the connection says first that it was reset.
  const lost = new Promise((resolve) => redis.once("reconnecting", resolve));
  await server.kill();
  await lost;
  const drained = worker.drain(0);
  await server.restart();
  await drained;
});

it.each([
  ["allkeys-lru", "maxmemory-policy", /CONFIG SET maxmemory-policy noeviction/],
  ["noeviction", undefined, undefined],
])("says what to change when the server evicts keys: %s", async (policy, setting, message) => {
  const other = await startRedis({ persistence: false, args: ["--maxmemory-policy", policy] });
  const connecting = connectRedis({ url: other.url, clientName: "test", log: silentLog });
  if (setting !== undefined) await expect(connecting).rejects.toThrow(message);
  else (await connecting).disconnect();
  await other.stop();
});

it("says what to give instead of a read-only replica", async () => {
  const args = ["--replicaof", "127.0.0.1", String(server.port)];
  const replica = await startRedis({ persistence: false, args });
  const connecting = connectRedis({ url: replica.url, clientName: "test", log: silentLog });
  await expect(connecting).rejects.toThrow(/read-only replica\. Give the URL of its primary/);
  await replica.stop();
});

it("says what to check when the server refuses the password", async () => {
  const locked = await startRedis({ persistence: false });
  const admin = await connectRedis({ url: locked.url, clientName: "test", log: silentLog });
  await admin.config("SET", "requirepass", "secret");
  const connecting = connectRedis({ url: locked.url, password: "wrong", clientName: "test", log: silentLog });
  await expect(connecting).rejects.toThrow(/refuses us: .*Check user and password/);
  admin.disconnect();
  await locked.stop();
});
