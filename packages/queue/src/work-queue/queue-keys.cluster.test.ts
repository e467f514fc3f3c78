import { queueOf, silentLog } from "@drover/controller";
import { type RedisCluster, startRedisCluster } from "@drover/local-servers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startScrubber } from "../ledger/scrubber.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { scanLedgerKeys } from "../ledger/ledger-keys.ts";
import { deleteKeys, type QueueKey, scanQueueKeys } from "./queue-keys.ts";
import { connectRedis, disconnectRedis } from "../redis/redis-connection.ts";
import type { RedisConnection } from "../redis/redis-servers.ts";
import { redisUserRules } from "../redis/users/redis-users.ts";

let cluster: RedisCluster;
let redis: RedisConnection;
beforeAll(async () => {
  const rules = redisUserRules({ role: "deployer", controllers: "all", cluster: true });
  const args = ["--user", "deployer", ...rules.split(" "), "+hset", ">secret"];
  cluster = await startRedisCluster({ persistence: false, args });
  const url = cluster.url.replace("//", "//deployer:secret@");
  redis = await connectRedis({ url, clientName: "deployer", log: silentLog });
});
afterAll(async () => {
  await disconnectRedis(redis);
  await cluster.stop();
});

it("the keys of queues are found and deleted on all primaries, as the deployer's user", async () => {
  const queues = Array.from({ length: 20 }, (_, i) => queueOf({ namespace: "web", name: `f${i}`, uid: "u" }));
  const primaries = await Promise.all(queues.map((queue) => cluster.primaryOf(queuePrefix(queue))));
  expect(new Set(primaries.map(({ port }) => port)).size).toBe(3);
  const names = queues.flatMap((queue) => ["a", "b", "c"].map((end) => `${queuePrefix(queue)}:key:${end}`));
  for (const name of names) await redis.hset(name, "f", "v");

  const walked = async (use: (keys: readonly QueueKey[]) => Promise<void>): Promise<void> => {
    const walk = scanQueueKeys(redis);
    while (await walk.step(use));
  };
  for (const queue of queues) {
    const keys: string[] = [];
    for await (const piece of scanLedgerKeys(redis, queuePrefix(queue))) keys.push(...piece);
    expect(keys.toSorted()).toEqual(["a", "b", "c"]);
  }

  const found = new Set<string>();
  await walked((keys) => {
    for (const { name } of keys) found.add(name);
    return Promise.resolve();
  });
  expect([...found].sort()).toEqual(names.toSorted());

  await walked((keys) =>
    deleteKeys(
      redis,
      keys.filter(({ queue }) => queue !== queues[0]),
    ),
  );
  const left = await Promise.all(names.map((name) => redis.exists(name)));
  expect(left).toEqual(names.map((name) => (name.startsWith(queuePrefix(queues[0]!)) ? 1 : 0)));
});

it("a scrubber, and a scan, come round to the keys on all primaries, however many there are on each", async () => {
  const clock = vi.spyOn(performance, "now");
  let now = 0;
  clock.mockImplementation(() => now);
  const queues = Array.from({ length: 6 }, (_, i) => queueOf({ namespace: "web", name: `p${i}`, uid: "u" }));
  const primaries = await Promise.all(queues.map((queue) => cluster.primaryOf(queuePrefix(queue))));
  expect(new Set(primaries.map(({ port }) => port)).size).toBe(3);
  const names = queues.flatMap((queue) =>
    Array.from({ length: 1_200 }, (_, i) => `${queuePrefix(queue)}:key:a/n${i}`),
  );
  await Promise.all(names.map((name) => redis.hset(name, "f", "v")));
  const left = new Set(names);
  const patrols = queues.map((queue) => {
    const repair = (some: readonly string[]) => {
      for (const name of some) left.delete(name);
      return Promise.resolve([]);
    };
    const ledger = { repairSets: () => Promise.resolve([]), repair };
    return startScrubber({ redis, prefix: queuePrefix(queue), ledger, log: silentLog, mayScan: true });
  });
  for (let i = 0; i < 30 && left.size > 0; i++) {
    now += 1_000;
    await patrols[0]?.step();
  }
  clock.mockRestore();
  expect([...left]).toEqual([]);
  const walked = new Set<string>();
  const walk = scanQueueKeys(redis);
  const use = (keys: readonly QueueKey[]) => (
    keys.forEach(({ name }) => walked.add(name)),
    Promise.resolve()
  );
  while (await walk.step(use));
  expect(names.filter((name) => !walked.has(name))).toEqual([]);
});
