import type { Milliseconds } from "@drover/controller";
import { callLua, type RedisConnection } from "@drover/queue";
import { z } from "zod";
import type { BridgeGroup } from "./bridge-group.ts";
import { bridgeScripts } from "../scripts/bridge-scripts.ts";

/** The live bridges of a group. */
export interface GroupMembership {
  /** Registers this bridge as live. Returns all live bridges, this one included. */
  heartbeat(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

/** @param ttl a bridge counts as gone after this time without a call of `heartbeat`. */
export function joinGroup(
  redis: RedisConnection,
  { members }: BridgeGroup,
  bridge: string,
  ttl: Milliseconds,
): GroupMembership {
  return {
    heartbeat: async () =>
      z
        .array(z.string())
        .parse(await callLua(redis, bridgeScripts.heartbeat, members, { bridge, lasts: ttl })),
    leave: async () => {
      await redis.zrem(members, bridge);
    },
  };
}
