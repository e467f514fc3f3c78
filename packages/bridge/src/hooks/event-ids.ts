import type { Milliseconds } from "@drover/controller";
import { callLua, type RedisConnection } from "@drover/queue";
import { bridgeScripts } from "../scripts/bridge-scripts.ts";

/** Ids of a hook's events. An id is recorded after the event's wakes. */
export interface EventIds {
  /** True if the id was recorded, less than `ttl` ago. */
  has(id: string): Promise<boolean>;
  record(id: string): Promise<void>;
}

export interface EventIdsOptions {
  /** The queue of the hook's function. */
  readonly queue: string;
  readonly hook: string;
  /** How long an id is kept. Default: a day. */
  readonly ttl?: Milliseconds;
  /** Most ids that are kept, the latest ones. Default: 100,000, about 10 MB. */
  readonly most?: number;
}

export function openEventIds(
  redis: RedisConnection,
  { queue, hook, ttl = 24 * 3_600_000, most = 100_000 }: EventIdsOptions,
): EventIds {
  const key = `{drover-hook:${queue}}:${hook}`;
  return {
    has: async (id) => (await callLua(redis, bridgeScripts.hasEventId, key, { id, lasts: ttl })) === 1,
    async record(id) {
      await callLua(redis, bridgeScripts.recordEventId, key, { id, lasts: ttl, most });
    },
  };
}
