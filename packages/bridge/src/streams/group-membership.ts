import type { Milliseconds } from "@drover/controller";
import { callLua, defineLuaScript, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import type { BridgeGroup } from "./bridge-group.ts";

/** The live bridges of a group. */
export interface GroupMembership {
  /** Registers this bridge as live. Returns all live bridges, this one included. */
  heartbeat(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

const heartbeatScript = defineLuaScript(
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

/** @param ttl a bridge counts as gone after this time without a call of `heartbeat`. */
export function joinGroup(
  redis: RedisConnection,
  { members }: BridgeGroup,
  bridge: string,
  ttl: Milliseconds,
): GroupMembership {
  return {
    heartbeat: async () =>
      z.array(z.string()).parse(await callLua(redis, heartbeatScript, members, { bridge, lasts: ttl })),
    leave: async () => {
      await redis.zrem(members, bridge);
    },
  };
}
