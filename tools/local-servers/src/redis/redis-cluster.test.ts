import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning } from "../processes/is-running.ts";
import { type RedisCluster, startRedisCluster } from "./redis-cluster.ts";
import { redisRequest } from "./redis-request.ts";

describe("three primaries", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({ persistence: true });
  });
  afterAll(() => cluster.stop());

  it("serve all slots, a third each, as every node reports", async () => {
    for (const node of cluster.nodes) {
      const info = (await redisRequest(node.port, ["CLUSTER", "INFO"])) ?? "";
      expect(info).toContain("cluster_state:ok\r\n");
      expect(info).toContain("cluster_size:3\r\n");
    }
    const urls = cluster.nodes.map(({ port }) => `redis://127.0.0.1:${port}`);
    expect(cluster.url).toBe(urls.join(","));
    const owners = await Promise.all(["a", "b", "c", "{a}:d"].map((key) => cluster.primaryOf(key)));
    expect(new Set(owners).size).toBe(3);
    expect(owners[3]).toBe(owners[0]);
  });

  it("keep their data and their slots when one is killed and comes back", async () => {
    const node = await cluster.primaryOf("name");
    await redisRequest(node.port, ["SET", "name", "Holbein"]);
    await node.kill();
    await node.restart();
    await cluster.untilOk();
    expect(await cluster.primaryOf("name")).toBe(node);
    expect(await redisRequest(node.port, ["GET", "name"])).toBe("Holbein");
  });

  it("are gone with all their folders once stopped", async () => {
    const stopped = await startRedisCluster({ persistence: false, nodes: 1 });
    const [node] = stopped.nodes;
    await stopped.stop();
    await stopped.stop();
    expect(isRunning(node?.pid ?? 0)).toBe(false);
  });
});

it("a replica takes over the slots of a primary that was killed, with its data", async () => {
  const cluster = await startRedisCluster({ persistence: false, replicas: 1 });
  try {
    const primary = await cluster.primaryOf("name");
    await redisRequest(primary.port, ["SET", "name", "Altdorfer"]);
    const replica = cluster.nodes[cluster.nodes.indexOf(primary) + 3];
    if (replica === undefined) throw new Error("no replica");
    await expect.poll(() => redisRequest(replica.port, ["DBSIZE"])).toBe("1");
    await primary.kill();
    await cluster.takeOver(replica);
    expect(await cluster.primaryOf("name")).toBe(replica);
    expect(await redisRequest(replica.port, ["GET", "name"])).toBe("Altdorfer");
  } finally {
    await cluster.stop();
  }
});
