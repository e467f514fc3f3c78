import type { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import type { OpenLedger } from "./contract/ledger-under-test.ts";
import { bareRedisOfFile } from "../redis/redis.fixture.ts";
import { openRedisLedger, type RedisLedger } from "./redis-ledger.ts";

/** A real server for the tests of a file, and on it the Redis keys of the ledger that was opened last. */
export interface RedisUnderTest {
  readonly redis: Redis;
  readonly prefix: string;
  readonly open: OpenLedger<RedisLedger>;
}

export async function redisUnderTest(): Promise<RedisUnderTest> {
  const { redis } = await bareRedisOfFile();
  let prefix = "";
  return {
    redis,
    get prefix() {
      return prefix;
    },
    open(options) {
      prefix = `{drover:${randomUUID()}}`;
      const ledger = openRedisLedger({ ...options, redis, prefix });
      return { ledger, loseAll: () => flush(redis, prefix), backup: () => backup(redis, prefix) };
    },
  };
}

async function flush(redis: Redis, prefix: string): Promise<void> {
  await redis.del(...(await redis.keys(`${prefix}:*`)));
}

async function backup(redis: Redis, prefix: string): Promise<() => Promise<void>> {
  const names = await redis.keys(`${prefix}:*`);
  const data = await Promise.all(names.map(async (name) => [name, await redis.dumpBuffer(name)] as const));
  return async () => {
    await flush(redis, prefix);
    for (const [name, bytes] of data) await redis.restore(name, 0, bytes);
  };
}
