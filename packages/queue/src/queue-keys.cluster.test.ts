import { queueOf, silentLog } from "@drover/controller";
import { type RedisCluster, startRedisCluster } from "@drover/local-servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { prefixOf } from "./prefix-of.ts";
import { ledgerKeys } from "./ledger-keys.ts";
import { deleteKeys, type QueueKey, walkQueueKeys } from "./queue-keys.ts";
import { connectRedis, disconnectRedis, type RedisConnection } from "./redis-connection.ts";
import { redisUserRules } from "./redis-users.ts";

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
  const primaries = await Promise.all(queues.map((queue) => cluster.primaryOf(prefixOf(queue))));
  expect(new Set(primaries.map(({ port }) => port)).size).toBe(3);
  const names = queues.flatMap((queue) => ["a", "b", "c"].map((end) => `${prefixOf(queue)}:key:${end}`));
  for (const name of names) await redis.hset(name, "f", "v");

  const walked = async (use: (keys: readonly QueueKey[]) => Promise<void>): Promise<void> => {
    const walk = walkQueueKeys(redis);
    while (await walk.step(use));
  };
  for (const queue of queues) {
    const keys: string[] = [];
    for await (const piece of ledgerKeys(redis, prefixOf(queue))) keys.push(...piece);
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
  expect(left).toEqual(names.map((name) => (name.startsWith(prefixOf(queues[0]!)) ? 1 : 0)));
});
