import { silentLog } from "@drover/controller";
import { type RedisCluster, redisRequest, startRedisCluster } from "@drover/local-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkQueue } from "./bullmq-work-queue.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { connectRedis } from "../redis/redis-connection.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import {
  key,
  type OpenWorkQueue,
  wakeOf,
  workQueueContract,
  workQueueUnderTest,
} from "./work-queue.contract.ts";

let cluster: RedisCluster;
let redis: RedisConnection;

beforeAll(async () => {
  cluster = await startRedisCluster({ persistence: true, replicas: 1 });
  redis = await connectRedis({ url: cluster.url, clientName: "test", log: silentLog });
});
afterAll(async () => {
  redis.disconnect();
  await cluster.stop();
});
const open: OpenWorkQueue = (options) => ({
  queue: openWorkQueue({ ...options, redis }),
  async replaceServer() {
    await redisRequest((await cluster.primaryOf(queuePrefix(options.controller))).port, ["FLUSHALL"]);
  },
});

describe("a Redis Cluster keeps the contract of a work queue", () => workQueueContract(open));

describe("when a replica takes a killed primary's place", () => {
  const t = workQueueUnderTest(open);
  it("a run under way ends in peace, what came meanwhile runs, and the waker is told", async () => {
    await t.queue.stats(10_000);
    const ending = Promise.withResolvers<undefined>();
    const runs: boolean[] = [];
    const { outcomes } = t.work(async (run) => {
      if (runs.length === 0) await ending.promise;
      runs.push(run.signal.aborted);
      return { kind: "done" };
    });
    await t.queue.wake([wakeOf(key)]);
    await expect.poll(async () => (await t.queue.stats(10_000)).running).toBe(1);
    const primary = await cluster.primaryOf(queuePrefix(t.queue.controller));
    const replica = cluster.nodes[cluster.nodes.indexOf(primary) + 3];
    if (replica === undefined) throw new Error("no replica");
    const keysOf = (port: number) => redisRequest(port, ["DBSIZE"]);
    await expect.poll(async () => (await keysOf(replica.port)) === (await keysOf(primary.port))).toBe(true);
    await primary.kill();
    const waking = t.queue.wake([wakeOf(key)]);
    await cluster.takeOver(replica);
    await waking;
    ending.resolve(undefined);
    await expect.poll(() => outcomes, { timeout: 20_000 }).toEqual(["done", "done"]);
    expect(runs).toEqual([false, false]);
    expect(t.incarnations.length).toBeGreaterThan(0);
    await primary.restart();
    await cluster.untilOk();
  });
});
