import type { RedisConnection } from "@drover/queue";
import type { BridgeGroup } from "../streams/bridge-group.ts";

/**
 * The first incarnation that each queue was last known to have, stored with the streams in Redis. A bridge that starts
 * while a queue does not answer uses it, so that the state of the queue's subscriptions is not dropped.
 */
export interface FirstIncarnationStore {
  all(): Promise<ReadonlyMap<string, string>>;
  remember(queue: string, firstIncarnation: string): Promise<void>;
  forget(queues: readonly string[]): Promise<void>;
}

export function openFirstIncarnations(
  redis: RedisConnection,
  { members }: BridgeGroup,
): FirstIncarnationStore {
  const key = `${members}:origins`;
  return {
    all: async () => new Map(Object.entries(await redis.hgetall(key))),
    async remember(queue, firstIncarnation) {
      await redis.hset(key, queue, firstIncarnation);
    },
    async forget(queues) {
      if (queues.length > 0) await redis.hdel(key, ...queues);
    },
  };
}
