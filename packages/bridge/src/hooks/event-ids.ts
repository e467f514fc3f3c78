import type { Milliseconds } from "@drover/controller";
import { callLua, defineLuaScript, type RedisConnection } from "@drover/queue";

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

const redisNow = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`;

const hasIdScript = defineLuaScript(
  "whether an event is known",
  ["id", "lasts"],
  `${redisNow}
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return 0 end
local at = redis.call('ZSCORE', KEYS[1], id)
return at and math.abs(now - at) < tonumber(lasts) and 1 or 0
`,
);

const recordIdScript = defineLuaScript(
  "record an event",
  ["id", "lasts", "most"],
  `${redisNow}
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], now, id)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + lasts, '+inf') -- the clock went back
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - most)
redis.call('PEXPIRE', KEYS[1], lasts)
`,
);

export function openEventIds(
  redis: RedisConnection,
  { queue, hook, ttl = 24 * 3_600_000, most = 100_000 }: EventIdsOptions,
): EventIds {
  const key = `{drover-hook:${queue}}:${hook}`;
  return {
    has: async (id) => (await callLua(redis, hasIdScript, key, { id, lasts: ttl })) === 1,
    async record(id) {
      await callLua(redis, recordIdScript, key, { id, lasts: ttl, most });
    },
  };
}
