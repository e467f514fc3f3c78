import type { Milliseconds } from "@drover/controller";
import { callLua, lua, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import type { Fleet } from "./fleet.ts";

/** The live bridges of a group. */
export interface Bridges {
  /** Registers this bridge as live. Returns all live bridges, this one included. */
  here(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

const here = lua(
  "say that a bridge is here",
  ["bridge", "lasts"],
  `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 10 * lasts, '+inf') -- the clock went back
redis.call('ZADD', KEYS[1], now + lasts, bridge)
return redis.call('ZRANGE', KEYS[1], 0, 999)
`,
);

/** @param lasts a bridge counts as gone after this time without a call of `here`. */
export function joinBridges(
  redis: RedisConnection,
  { members }: Fleet,
  bridge: string,
  lasts: Milliseconds,
): Bridges {
  return {
    here: async () => z.array(z.string()).parse(await callLua(redis, here, members, { bridge, lasts })),
    leave: async () => {
      await redis.zrem(members, bridge);
    },
  };
}
