import { queueOf, silentLog } from "@drover/controller";
import { type RedisServer, startForwarder, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection } from "@drover/queue";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Registry } from "prom-client";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { serveTenants } from "./serve-tenants.ts";
import { type TenantRedis, TenantRedisError } from "./tenant-redis.ts";
import { openTestTenants, tenantOf } from "./tenants.fixture.ts";
import type { Tenant } from "./tenants-file.ts";

const { server: drover, redis: main } = await redisOfFile();
let a: RedisServer;
let b: RedisServer;
let opened: TenantRedis[];
beforeEach(async () => {
  opened = [];
  [a, b] = await Promise.all([startRedis({ persistence: false }), startRedis({ persistence: false })]);
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  await Promise.all([a.stop(), b.stop()]);
});
const open = (...tenants: readonly Tenant[]): TenantRedis => openBeside(main, ...tenants);
const openBeside = (own: RedisConnection, ...tenants: readonly Tenant[]): TenantRedis => {
  const redis = openTestTenants(own, tenants);
  opened.push(redis);
  return redis;
};
const queueIn = (namespace: string): string => queueOf({ namespace, name: "sites", uid: "u" });
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 30_000, interval: 20 });
const used = (redis: TenantRedis, namespace: string) =>
  until(() => void redis.redisFor(queueIn(namespace))).then(() => redis.redisFor(queueIn(namespace)));
const refused = (redis: TenantRedis, namespace: string, why: RegExp) =>
  until(() => {
    expect(() => redis.redisFor(queueIn(namespace))).toThrow(TenantRedisError);
    expect(() => redis.redisFor(queueIn(namespace))).toThrow(why);
  });
/** A connection of another client, which may change the server's settings. */
async function adminOf({ url }: RedisServer, loadsScripts = true): Promise<RedisConnection> {
  const admin = await connectRedis({ url, clientName: "admin", log: silentLog, loadsScripts });
  onTestFinished(() => disconnectRedis(admin));
  return admin;
}
const portOf = async (redis: RedisConnection): Promise<string | undefined> =>
  /tcp_port:(\d+)/.exec(await redis.info("server"))?.[1];

it("uses the server of the namespace for each queue and names queue, and Drover's own for all others", async () => {
  const redis = open(tenantOf("a", a), tenantOf("b", b));
  for (const [namespace, server] of [
    ["a", a],
    ["b", b],
  ] as const) {
    expect(await portOf((await used(redis, namespace)).redis)).toBe(String(server.port));
    expect(redis.redisFor(`${queueIn(namespace)}/names/secrets`)).toBe(redis.redisFor(queueIn(namespace)));
  }
  for (const queue of [queueIn("c"), queueOf({ name: "a" }), "a", "a/b", "{a}/b/c"])
    expect(redis.redisFor(queue).redis, queue).toBe(main);
  expect(redis.servers().map(({ tenant }) => tenant?.namespaces[0])).toEqual([undefined, "a", "b"]);
  expect(redis.problems()).toEqual([]);
});

it("serves a tenant while another's server is away, and that one when it is back", async () => {
  await a.kill();
  const redis = open(tenantOf("a", a), tenantOf("b", b));
  await used(redis, "b");
  await refused(redis, "a", /^The Redis of a is not used: .*not reachable/);
  expect(redis.servers()).toHaveLength(2);
  await a.restart();
  await used(redis, "a");
});

it("keeps the connection of a server that does not reply, and reports that meanwhile", async () => {
  const redis = open(tenantOf("a", a), tenantOf("b", b));
  const before = await used(redis, "a");
  await used(redis, "b");
  process.kill(a.pid, "SIGSTOP");
  await refused(redis, "a", /has not answered for 500 ms/);
  expect(await portOf(redis.redisFor(queueIn("b")).redis)).toBe(String(b.port));
  process.kill(a.pid, "SIGCONT");
  expect(await used(redis, "a")).toBe(before);
  expect(before.gone.aborted).toBe(false);
});

it.each<[what: string, command: readonly [string, ...string[]], problem: RegExp]>([
  ["evicts", ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"], /maxmemory-policy allkeys-lru/],
  ["is a replica", ["REPLICAOF", "127.0.0.1", "1"], /read-only replica/],
  ["wants a password", ["CONFIG", "SET", "requirepass", "x"], /Check user and password/],
])("writes nothing to a server that %s, and serves the others", async (_what, command, problem) => {
  const admin = await adminOf(a, false);
  await admin.call(...command);
  const redis = open(tenantOf("a", a), tenantOf("b", b));
  await used(redis, "b");
  await refused(redis, "a", problem);
  expect(redis.servers()).toHaveLength(2);
});

it("closes the connection to a server with an unsafe setting, and opens one when the setting is safe", async () => {
  const redis = open(tenantOf("a", a));
  const { redis: before, gone } = await used(redis, "a");
  const asked: unknown[] = [];
  // A user of the connection requests another one at once, and must not get the same again.
  gone.addEventListener("abort", () => {
    try {
      asked.push(redis.redisFor(queueIn("a")).redis);
    } catch (error) {
      asked.push(error);
    }
  });
  const admin = await adminOf(a);
  await admin.config("SET", "maxmemory-policy", "allkeys-lru");
  await refused(redis, "a", /evicts keys/);
  expect(gone.aborted).toBe(true);
  expect(asked).toEqual([expect.any(TenantRedisError)]);
  await expect(before.set("x", "1")).rejects.toThrow(/closed/);
  await admin.config("SET", "maxmemory-policy", "noeviction");
  const after = await used(redis, "a");
  expect(after.redis).not.toBe(before);
});

it("detects a shared server behind another address, of two tenants or of Drover, and uses it for neither", async () => {
  const [alias, own] = await Promise.all([startForwarder(a.port), startForwarder(drover.port)]);
  const redis = open(
    tenantOf("a", a),
    tenantOf("x", { url: `redis://127.0.0.1:${alias.port}` }),
    tenantOf("y", { url: `redis://127.0.0.1:${own.port}` }),
    tenantOf("b", b),
  );
  await refused(redis, "x", /the server of a, too/);
  await refused(redis, "a", /the server of x, too/);
  await refused(redis, "y", /Drover's own Redis/);
  await used(redis, "b");
  await redis.close();
  await Promise.all([alias.stop(), own.stop()]);
});

it("keeps a tenant's server while Drover's own refuses INFO", async () => {
  const own = await adminOf(b);
  const redis = openBeside(own, tenantOf("a", a));
  const before = await used(redis, "a");
  await own.call("ACL", "SETUSER", "default", "-info");
  const refusals = async (): Promise<number> => {
    const [refused] = (await own.call("ACL", "LOG")) as string[][];
    return Number(refused?.[1] ?? 0);
  };
  await until(async () => expect(await refusals()).toBeGreaterThan(2));
  expect(redis.redisFor(queueIn("a"))).toBe(before);
  expect([before.gone.aborted, redis.problems()]).toEqual([false, []]);
  await redis.close();
});

it("readiness and a metric show the tenants' servers that are not used", async () => {
  const checks: (() => unknown)[] = [];
  const registries: Registry[] = [];
  const stopped = { url: `redis://127.0.0.1:1` };
  for (const server of [a, stopped]) {
    const registry = new Registry();
    registries.push(registry);
    const process = {
      settings: { tenantsFile: [tenantOf("a", server)], redisUrl: drover.url },
      redis: main,
      registry,
      log: silentLog,
      closing: () => undefined,
      readiness: (_: string, check: () => unknown) => void checks.push(check),
    };
    opened.push(
      serveTenants(process as unknown as Parameters<typeof serveTenants>[0], {
        name: "test",
        own: [],
        loadsScripts: true,
      }),
    );
  }
  await used(opened[0]!, "a");
  expect(checks[0]?.()).toBeUndefined();
  expect(checks[1]?.()).toMatchObject({
    note: expect.stringContaining("The Redis of a is not used") as string,
  });
  for (const [i, registry] of registries.entries())
    expect(await registry.metrics()).toContain(`drover_tenant_redis_usable{namespace="a"} ${1 - i}\n`);
});
