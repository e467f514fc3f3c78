import { silentLog } from "@drover/controller";
import { type RedisServer, type RedisServerOptions, startRedis } from "@drover/local-servers";
import { Redis } from "ioredis";
import { afterAll } from "vitest";
import { connectRedis, disconnectRedis } from "./redis-connection.ts";
import type { RedisConnection } from "./redis-servers.ts";

/** A real server for the tests of a file, and a connection to it; both end with the file. */
export async function redisOfFile(options?: RedisServerOptions): Promise<{
  readonly server: RedisServer;
  readonly redis: RedisConnection;
}> {
  const server = await serverOfFile(options);
  const redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  afterAll(() => disconnectRedis(redis));
  return { server, redis };
}

/** A real server for the tests of a file, and a bare client of it; both end with the file. */
export async function bareRedisOfFile(options?: RedisServerOptions): Promise<{
  readonly server: RedisServer;
  readonly redis: Redis;
}> {
  const server = await serverOfFile(options);
  const redis = new Redis(server.url);
  afterAll(() => redis.disconnect());
  return { server, redis };
}

async function serverOfFile(options: RedisServerOptions = { persistence: false }): Promise<RedisServer> {
  const server = await startRedis(options);
  afterAll(() => server.stop());
  return server;
}
