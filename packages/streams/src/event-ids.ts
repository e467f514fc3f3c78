import type { Milliseconds } from "@drover/controller";
import { callLua, lua, type RedisConnection } from "@drover/queue";

/** The events of a hook whose wakes are in Redis. */
export interface EventIds {
  /** Whether it was recorded, and not so long ago that it is forgotten. */
  knows(id: string): Promise<boolean>;
  record(id: string): Promise<void>;
}

export interface EventIdsOptions {
  /** The queue of the hook's function. */
  readonly queue: string;
  readonly hook: string;
  /** How long one is remembered. Default: a day. */
  readonly lasts?: Milliseconds;
  /** So many are remembered, the latest. Default: 100,000, some 10 MB. */
  readonly most?: number;
}

const now = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`;

const knows = lua(
  "whether an event is known",
  ["id", "lasts"],
  `${now}
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return 0 end
local at = redis.call('ZSCORE', KEYS[1], id)
return at and math.abs(now - at) < tonumber(lasts) and 1 or 0
`,
);

const record = lua(
  "record an event",
  ["id", "lasts", "most"],
  `${now}
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
  { queue, hook, lasts = 24 * 3_600_000, most = 100_000 }: EventIdsOptions,
): EventIds {
  const key = `{drover-hook:${queue}}:${hook}`;
  return {
    knows: async (id) => (await callLua(redis, knows, key, { id, lasts })) === 1,
    async record(id) {
      await callLua(redis, record, key, { id, lasts, most });
    },
  };
}
