import { afterEach, beforeEach } from "vitest";
import { connectRedis, type RedisConnectionOptions } from "./redis-connection.ts";
import type { RedisConnection } from "./redis-servers.ts";

/** Connections of a test, which end with it, and the lines that they have logged. */
export interface ConnectionsUnderTest {
  readonly lines: readonly { readonly message: string }[];
  readonly connect: (url: string, more?: Partial<RedisConnectionOptions>) => Promise<RedisConnection>;
}

/** Leaves out the lines about faults of an old server: they are the subject of patch-levels.test.ts. */
export function connectionsUnderTest(): ConnectionsUnderTest {
  const lines: { readonly message: string }[] = [];
  const opened: RedisConnection[] = [];
  const line = (fields: object, message: string): void => {
    if (!message.includes("known faults")) lines.push({ ...fields, message });
  };
  const log = { debug: () => {}, info: line, warn: line, error: line };
  beforeEach(() => void lines.splice(0));
  afterEach(() => {
    for (const redis of opened.splice(0)) redis.disconnect();
  });
  return {
    lines,
    async connect(url, more) {
      const redis = await connectRedis({ url, clientName: "test", log, ...more });
      opened.push(redis);
      return redis;
    },
  };
}
