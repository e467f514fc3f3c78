import { namesQueueOf, queueOf, RetryAfterError, silentLog } from "@drover/controller";
import { startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../../packages/queue/src/redis/redis.fixture.ts";
import { functionKeys, type FunctionKeys } from "./function-keys.ts";

const { redis } = await redisOfFile();
beforeEach(() => redis.flushall());

const gone = { namespace: "web", name: "sites", uid: "u1" };
const queue = queueOf(gone);
const names = namesQueueOf(queue, { plural: "secrets", group: "" });
/** What is not that function's, however alike it looks. */
const others = [
  "{drover:web/sites/u12}:control",
  "{drover:web/sites/u2}:control",
  "{drover:web/sites.example.com/u1}:control",
  "{drover:xweb/sites/u1}:control",
  "{drover:-/sites/-}:control",
  "{drover:web/sites/u1/names}:control",
  "{drover-stream:v1/pods}:seen",
  "{drover-bridges}",
  "web/sites/u1",
];
async function fill(count: number): Promise<void> {
  const pipeline = redis.pipeline();
  for (let i = 0; i < count; i++) pipeline.hset(`{drover:${queue}}:key:web/${i}`, "state", "idle");
  pipeline.zadd(`{drover:${queue}}:jobs:failed`, 1, "1").set(`{drover:${names}}:object:a/b`, "{}");
  pipeline.hset(`{drover:${names}}:named`, "a", "b").zadd(`{drover-hook:${queue}}:pushes`, 1, "id");
  for (const name of others) pipeline.set(name, "1");
  await pipeline.exec();
}
/** Runs until it is done; answers how many runs that took. */
async function runs(start: () => FunctionKeys, of = gone): Promise<number> {
  for (let run = 1; ; run++) {
    try {
      await start().deleteAll(of);
      return run;
    } catch (error) {
      expect(error).toBeInstanceOf(RetryAfterError);
    }
  }
}

it("deletes all keys of a function, those of its hooks and of its code's questions, and no others", async () => {
  await fill(10);
  expect(await runs(() => functionKeys(() => [redis]))).toBe(1);
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
});

it("deletes so many in a run, and goes on with the next", async () => {
  await fill(5_000);
  const keys = functionKeys(() => [redis], 0);
  expect(await runs(() => keys)).toBeGreaterThan(3);
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
});

it("begins again in another process, and still comes to its end", async () => {
  await fill(5_000);
  const first = functionKeys(() => [redis], 0);
  await expect(first.deleteAll(gone)).rejects.toBeInstanceOf(RetryAfterError);
  const left = (await redis.keys(`*${queue}*`)).length;
  expect(left).toBeLessThan(5_004);
  expect(left).toBeGreaterThan(0);
  const second = functionKeys(() => [redis], 0);
  await runs(() => second);
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
});

it("what Redis refused is not taken for done", async () => {
  await fill(5_000);
  const keys = functionKeys(() => [redis], 0);
  await expect(keys.deleteAll(gone)).rejects.toBeInstanceOf(RetryAfterError);
  await redis.call("ACL", "SETUSER", "default", "-unlink");
  await expect(keys.deleteAll(gone)).rejects.toThrow(/Redis does not permit/);
  await redis.call("ACL", "SETUSER", "default", "+unlink");
  await runs(() => keys);
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
});

it("one walk deletes the keys of all functions that leave, also of one that comes when it is under way", async () => {
  await fill(5_000);
  const scans = vi.spyOn(redis, "scan");
  const late = Array.from({ length: 20 }, (_, i) => ({ namespace: "web", name: "late", uid: `l${i}` }));
  for (const one of late) await redis.set(`{drover:${queueOf(one)}}:control`, "1");
  const keys = functionKeys(() => [redis], 0);
  await expect(keys.deleteAll(gone)).rejects.toBeInstanceOf(RetryAfterError);
  await Promise.all([gone, ...late].map((one) => runs(() => keys, one)));
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
  expect(scans.mock.calls.length).toBeLessThan(15);
  scans.mockRestore();
});
it("deletes them in every server that they may be in", async () => {
  const other = await startRedis({ persistence: false });
  const own = await connectRedis({ url: other.url, clientName: "test", log: silentLog });
  await fill(10);
  await own.set(`{drover:${queue}}:control`, "1");
  await own.set(others[0] ?? "", "1");
  const keys = functionKeys(() => [redis, own], 0);
  await runs(() => keys);
  expect((await redis.keys("*")).sort()).toEqual(others.toSorted());
  expect(await own.keys("*")).toEqual([others[0]]);
  await disconnectRedis(own);
  await other.stop();
});
