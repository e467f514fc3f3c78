import type { RedisConnection } from "@drover/queue";
import type { Fleet } from "./fleet.ts";

/**
 * The origins that queues were last known to have, beside the streams in Redis: a bridge that starts while a queue does not
 * answer goes by these, so that nothing that was kept for the queue's subscribers is dropped.
 */
export interface KnownOrigins {
  all(): Promise<ReadonlyMap<string, string>>;
  remember(queue: string, origin: string): Promise<void>;
  forget(queues: readonly string[]): Promise<void>;
}

export function openKnownOrigins(redis: RedisConnection, { members }: Fleet): KnownOrigins {
  const key = `${members}:origins`;
  return {
    all: async () => new Map(Object.entries(await redis.hgetall(key))),
    async remember(queue, origin) {
      await redis.hset(key, queue, origin);
    },
    async forget(queues) {
      if (queues.length > 0) await redis.hdel(key, ...queues);
    },
  };
}
