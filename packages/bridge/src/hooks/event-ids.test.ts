import { disconnectRedis } from "@drover/queue";
import { beforeEach, expect, test } from "vitest";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { openEventIds } from "./event-ids.ts";
import { connectAs } from "../redis-user.fixture.ts";

const { server, redis } = await redisOfFile();
beforeEach(() => redis.flushall());

const of = { queue: "a", hook: "s3" };
const key = "{drover-hook:a}:s3";

test("an event is known after it was recorded, to its own hook only", async () => {
  const ids = openEventIds(redis, of);
  expect(await ids.has("1")).toBe(false);
  await ids.record("1");
  await ids.record("1");
  expect(await openEventIds(redis, of).has("1")).toBe(true);
  expect(await ids.has("2")).toBe(false);
  expect(await openEventIds(redis, { ...of, hook: "git" }).has("1")).toBe(false);
  expect(await openEventIds(redis, { ...of, queue: "b" }).has("1")).toBe(false);
});

test("an id expires after its time to live, and so does the key without new ids", async () => {
  const ids = openEventIds(redis, { ...of, ttl: 60_000 });
  const now = Date.now();
  const put = (at: number, id: string) => redis.zadd(key, String(at), id);
  await put(now - 61_000, "old");
  await put(now - 1_000, "young");
  await put(now + 120_000, "from before the clock went back");
  expect(await ids.has("old")).toBe(false);
  expect(await ids.has("young")).toBe(true);
  expect(await ids.has("from before the clock went back")).toBe(false);
  await ids.record("new");
  expect(await redis.zrange(key, "0", "-1")).toEqual(["young", "new"]);
  expect(await redis.pttl(key)).toBeGreaterThan(50_000);
});

test("only the latest ids are kept, up to the limit", async () => {
  const ids = openEventIds(redis, { ...of, most: 3 });
  const now = Date.now();
  for (const [i, id] of ["a", "b", "c"].entries()) await redis.zadd(key, String(now - 3 + i), id);
  await ids.record("d");
  expect(await redis.zrange(key, "0", "-1")).toEqual(["b", "c", "d"]);
});

test("a value that another program wrote is replaced", async () => {
  await redis.set(key, "garbage");
  const ids = openEventIds(redis, of);
  expect(await ids.has("1")).toBe(false);
  await ids.record("1");
  expect(await ids.has("1")).toBe(true);
});

test("the Redis user of a bridge may do all of this, and that of a function nothing", async () => {
  const as = (role: "bridge" | "function") => connectAs(role, server, redis);
  const [bridge, other] = [await as("bridge"), await as("function")];
  const ids = openEventIds(bridge, of);
  await redis.set(key, "garbage");
  await ids.record("1");
  expect(await ids.has("1")).toBe(true);
  await expect(openEventIds(other, of).has("1")).rejects.toThrow(/NOPERM|no permission/i);
  await disconnectRedis(bridge);
  await disconnectRedis(other);
});
