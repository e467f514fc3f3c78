import { silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { afterAll } from "vitest";
import { connectRedis, disconnectRedis } from "./redis-connection.ts";
import type { RedisConnection } from "./redis-servers.ts";

/** A real server for the tests of a file, and a connection to it; both end with the file. */
export async function redisOfFile(): Promise<{
  readonly server: RedisServer;
  readonly redis: RedisConnection;
}> {
  const server = await startRedis({ persistence: false });
  const redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  afterAll(async () => {
    await disconnectRedis(redis);
    await server.stop();
  });
  return { server, redis };
}
