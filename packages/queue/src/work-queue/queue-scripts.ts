import type { RedisConnection } from "../redis/redis-servers.ts";
import { throwRefusal } from "../redis/redis-errors.ts";
import { redisNow } from "../redis/lua/recorded-scripts.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { scanQueueKeys } from "./queue-keys.ts";

/** The script sets that the workers of a queue need. */
export interface QueueScripts {
  readonly queue: string;
  /** Names of the sets of its live workers; without any, of the last one. Empty: its version does not state it. */
  readonly sets: readonly string[];
}

/**
 * Finds the script sets that functions need, also of those without a process: the next one is most likely of the version of the
 * last one. Queues that no worker has ever used are left out.
 */
export async function queueScripts(redis: RedisConnection): Promise<readonly QueueScripts[]> {
  const queues = new Set<string>();
  const scan = scanQueueKeys(redis);
  const add = (keys: readonly { readonly name: string; readonly queue: string }[]): Promise<void> => {
    for (const { name, queue } of keys) if (name === `${queuePrefix(queue)}:control`) queues.add(queue);
    return Promise.resolve();
  };
  while (await scan.step(add));
  const now = await redisNow(redis);
  const found: QueueScripts[] = [];
  for (const queue of [...queues].sort()) {
    // Written by every registration of a worker, and kept.
    const newest = await redis.hget(`${queuePrefix(queue)}:control`, "newest").catch(throwRefusal);
    if (newest === null) continue;
    const stated = Object.entries(await redis.hgetall(`${queuePrefix(queue)}:scripts`));
    const last = Math.max(...stated.map(([, until]) => Number(until)));
    const sets = stated.filter(([, until]) => Number(until) > now || Number(until) === last);
    found.push({ queue, sets: sets.map(([name]) => name).sort() });
  }
  return found;
}
