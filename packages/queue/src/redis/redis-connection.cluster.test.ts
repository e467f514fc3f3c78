import { type RedisCluster, redisRequest, startRedis, startRedisCluster } from "@drover/local-servers";
import { Queue, Worker } from "bullmq";
import { Cluster } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { redisUserAdmin } from "./users/redis-user-admin.ts";
import { connectionsUnderTest } from "./connections.fixture.ts";
import { disconnectRedis } from "./redis-connection.ts";
import { type RedisConnection, primariesOf } from "./redis-servers.ts";

const { lines, connect } = connectionsUnderTest();
const prefix = "{drover:x}";

describe("on three primaries", () => {
  let cluster: RedisCluster;
  let redis: RedisConnection;
  const ask = (node: { port: number } | undefined, ...command: string[]) =>
    redisRequest(node?.port ?? 0, command);

  beforeAll(async () => {
    cluster = await startRedisCluster({ persistence: true });
  });
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    await cluster.untilOk();
    for (const node of cluster.nodes) await ask(node, "FLUSHALL");
    redis = await connect(cluster.url);
  });

  it("one address of a cluster is enough to find the others", async () => {
    const found = await connect(`${cluster.nodes[1]?.url ?? ""}?cluster=true`);
    expect(found).toBeInstanceOf(Cluster);
    const names = ["a", "b", "c", "d"];
    expect(await Promise.all(names.map((name) => found.incr(name)))).toEqual([1, 1, 1, 1]);
    const sizes = await Promise.all(primariesOf(found).map((node) => node.dbsize()));
    expect(sizes).toHaveLength(3);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(4);
  });

  it("is refused when any of its primaries evicts keys, and which one", async () => {
    const node = cluster.nodes[2];
    await ask(node, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const connecting = connect(cluster.url);
    await expect(connecting).rejects.toThrow(new RegExp(`:${String(node?.port)} evicts keys`));
    await ask(node, "CONFIG", "SET", "maxmemory-policy", "noeviction");
  });

  it("is refused at once with a wrong password, and taken with the right one", async () => {
    for (const node of cluster.nodes) {
      await ask(node, "ACL", "SETUSER", "me", "reset", "on", ">secret", "~*", "+@all");
    }
    const url = cluster.url.replace("//", "//me@");
    await expect(connect(url, { password: "wrong" })).rejects.toThrow(
      /Redis Cluster at 127\.0\.0\.1:\d+, .*refuses us: .*Check user and password/,
    );
    const mine = await connect(url, { password: "secret" });
    expect(await mine.call("ACL", "WHOAMI")).toBe("me");
  });

  it("a user needs no more than it says", async () => {
    const needed = ["+info", "+ping", "+client|setname", "+cluster|slots", "+cluster|info", "+asking"];
    for (const node of cluster.nodes) {
      await ask(node, "ACL", "SETUSER", "least", "reset", "on", ">secret", `~${prefix}*`, "+incr", ...needed);
      await ask(node, "ACL", "LOG", "RESET");
    }
    const least = await connect(cluster.url.replace("//", "//least:secret@"), { loadsScripts: false });
    expect(await least.incr(`${prefix}:n`)).toBe(1);
    await disconnectRedis(least);
    for (const node of primariesOf(redis)) expect(await node.acl("LOG")).toEqual([]);
  });

  it("is waited for while it is not ok, and then refused", async () => {
    await ask(cluster.nodes[0], "CLUSTER", "DELSLOTS", "0");
    await expect(connect(cluster.url, { connectTimeout: 300 })).rejects.toThrow(
      /its state is fail\. Repair it/,
    );
    const connecting = connect(cluster.url);
    await ask(cluster.nodes[0], "CLUSTER", "ADDSLOTS", "0");
    await (await connecting).ping();
  });

  it("commands wait for a node that was killed; two lines say so", async () => {
    const owner = await cluster.primaryOf(prefix);
    expect(await redis.incr(`${prefix}:n`)).toBe(1);
    let failures = 0;
    redis.on("node error", () => (failures += 1));
    await owner.kill();
    const writing = Promise.all([1, 2, 3].map(() => redis.incr(`${prefix}:n`)));
    await expect.poll(() => failures).toBeGreaterThan(5);
    await owner.restart();
    expect((await writing).sort()).toEqual([2, 3, 4]);
    const node = `127.0.0.1:${owner.port}`;
    expect(lines).toMatchObject([
      { node, message: "A node of the Redis Cluster is not reachable; commands for its keys wait" },
      { node, message: "The node of the Redis Cluster is reachable again" },
    ]);
  });

  it("commands wait for the whole cluster", async () => {
    expect(await redis.incr(`${prefix}:n`)).toBe(1);
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    const writing = redis.incr(`${prefix}:n`);
    await expect
      .poll(() => lines)
      .toContainEqual(
        expect.objectContaining({ message: "Redis Cluster is not reachable; trying again until it is" }),
      );
    await Promise.all(cluster.nodes.map((node) => node.restart()));
    expect(await writing).toBe(2);
    expect(lines).toContainEqual({ message: "Redis Cluster is reachable again" });
  });

  it("follows a slot that moves, and waits where its keys are torn apart", async () => {
    const [one, other] = [`${prefix}:one`, `${prefix}:other`];
    await redis.mset(one, 1, other, 2);
    const from = await cluster.primaryOf(prefix);
    const to = cluster.nodes.find((node) => node !== from);
    const slot = (await ask(from, "CLUSTER", "KEYSLOT", prefix)) ?? "";
    const id = (await ask(to, "CLUSTER", "MYID")) ?? "";
    await ask(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", (await ask(from, "CLUSTER", "MYID")) ?? "");
    await ask(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", id);
    const move = (key: string) => ask(from, "MIGRATE", "127.0.0.1", String(to?.port), key, "0", "5000");
    await move(one);
    expect(await redis.incr(one)).toBe(2); // ASK
    const reading = redis.mget(one, other); // TRYAGAIN
    await expect.poll(() => ask(from, "INFO", "errorstats")).toContain("errorstat_TRYAGAIN");
    await move(other);
    for (const node of [to, from]) await ask(node, "CLUSTER", "SETSLOT", slot, "NODE", id);
    expect(await reading).toEqual(["2", "2"]);
    expect(await redis.incr(one)).toBe(3); // MOVED
  });

  it("BullMQ's queue and worker go on after a node was away for longer than BullMQ waits for an answer", async () => {
    const duplicates = vi.spyOn(redis, "duplicate");
    const queue = new Queue("jobs", { connection: redis, prefix });
    const done: unknown[] = [];
    const ring = (ids: readonly string[]) =>
      Promise.all(ids.map((jobId) => queue.add("claim", {}, { jobId, removeOnComplete: true })));
    const worker = new Worker("jobs", (job) => Promise.resolve(void done.push(job.id)), {
      connection: redis,
      prefix,
      concurrency: 4,
      runRetryDelay: 50,
      // It gives a blocking read up for lost a second later, and connects anew. Long enough to be found blocking below.
      drainDelay: 5,
    });
    worker.on("error", () => undefined);
    await ring(["a", "b"]);
    await expect.poll(() => done.length).toBe(2);
    const owner = await cluster.primaryOf(prefix);
    const blocking = duplicates.mock.results.flatMap((result) =>
      result.type === "return" ? [result.value] : [],
    );
    expect(blocking).toHaveLength(1);
    const connectedAnew = blocking.map((read) => new Promise((resolve) => void read.once("end", resolve)));
    // The node goes at the start of a read that blocks, which is given up; any other call would wait for the node.
    for (const read of blocking) {
      const reads = vi.spyOn(read, "bzpopmin").mock.calls;
      await expect.poll(() => reads.length, { interval: 1 }).toBeGreaterThan(0);
    }
    // What BullMQ left for a reader to find ends a read at once.
    await expect.poll(() => ask(owner, "INFO", "clients"), { interval: 1 }).toMatch(/blocked_clients:1\b/);
    await owner.kill();
    await Promise.all(connectedAnew);
    const ringing = ring(["c", "d", "e"]);
    await owner.restart();
    await ringing;
    await expect.poll(() => [...done].sort(), { timeout: 20_000 }).toEqual(["a", "b", "c", "d", "e"]);
    await worker.close();
    await queue.close();
  });
});

describe("on primaries with replicas", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({
      persistence: false,
      replicas: 1,
      args: ["--cluster-node-timeout", "15000"],
    });
  });
  afterAll(() => cluster.stop());

  it("a user is made on replicas, too, so that it is there when one takes over, and taken away there", async () => {
    const redis = await connect(cluster.url);
    // Redis 7.0 names a replica only when something was written.
    await redis.set("a", 1);
    await expect.poll(() => (redis as Cluster).nodes("slave").length).toBe(3);
    const whether = ({ port }: { readonly port: number }) =>
      redisRequest(port, ["ACL", "DRYRUN", "gadgets", "PING"]).catch(String);
    const users = () => Promise.all(cluster.nodes.map(whether));
    const accounts = redisUserAdmin(redis);
    await accounts.grant("gadgets", { role: "function", controllers: ["gadgets"] }, ["secret"]);
    expect(await users()).toEqual(cluster.nodes.map(() => "OK"));
    const url = cluster.url.replaceAll("redis://", "redis://gadgets:secret@");
    const user = await connect(url, { loadsScripts: false }); // it finds the nodes
    expect(await user.exists("{drover:gadgets}:control")).toBe(0);
    await accounts.revoke("gadgets");
    for (const each of await users()) expect(each).toMatch(/not found/);
  });

  it("a user that is left on one of its nodes is named, and taken away", async () => {
    const redis = await connect(cluster.url);
    const accounts = redisUserAdmin(redis);
    for (const { port } of cluster.nodes.slice(0, 3)) {
      await redisRequest(port, ["ACL", "SETUSER", "left", "on"]);
      expect(await accounts.names()).toContain("left");
      await accounts.revoke("left");
      expect(await accounts.names()).not.toContain("left");
    }
  });

  it.each([
    ["SIGKILL", "a"],
    ["SIGSTOP", "b"],
  ] as const)("commands go to the replica that took over from a primary after %s", async (signal, key) => {
    const redis = await connect(cluster.url);
    expect(await redis.set(key, 1)).toBe("OK");
    const primary = await cluster.primaryOf(key);
    const replica = cluster.nodes[cluster.nodes.indexOf(primary) + 3];
    if (replica === undefined) throw new Error("no replica");
    await expect.poll(() => redisRequest(replica.port, ["DBSIZE"])).toBe("1");
    process.kill(primary.pid, signal);
    const writing = redis.incr(key);
    await cluster.takeOver(replica);
    expect(await writing).toBe(2);
  });
});

it("a single server is no cluster", async () => {
  const server = await startRedis({ persistence: false });
  await expect(connect(`${server.url}?cluster=true`)).rejects.toThrow(/refuses us: .*Is it a cluster\?/);
  await server.stop();
});
