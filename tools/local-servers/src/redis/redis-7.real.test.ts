import { expect, it } from "vitest";
import { startRedisCluster } from "./redis-cluster.ts";
import { findRedis7 } from "./redis-executable.ts";
import { redisRequest } from "./redis-request.ts";

it("finds a Redis 7, and a cluster of it starts", { timeout: 120_000 }, async () => {
  const executable = await findRedis7();
  expect(executable.description).toMatch(/^Redis 7\.\d+\.\d+ (on PATH|from Debian)$/);
  const cluster = await startRedisCluster({ persistence: true, executable });
  try {
    for (const { port } of cluster.nodes) {
      expect(await redisRequest(port, ["INFO", "server"])).toContain("\nredis_version:7.");
    }
  } finally {
    await cluster.stop();
  }
});
