import { type FunctionIdentity, queueOf, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection, redisUserRules } from "@drover/queue";
import type { Tenant } from "@drover/runtime";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openTestTenants, tenantOf } from "../../runtime/src/tenants/tenants.fixture.ts";
import { configMapKind, openBridgeScene, type BridgeScene, until } from "./bridge-scene.fixture.ts";
import { registrationOf } from "./registration/registration.ts";

/** A tenant's server, and a connection of its administrator. */
interface TenantServer {
  readonly server: RedisServer;
  readonly admin: RedisConnection;
}

const closing: (() => unknown)[] = [];
let scene: BridgeScene;
let a: TenantServer;
let b: TenantServer;
beforeEach(async () => {
  scene = await openBridgeScene();
  [a, b] = await Promise.all([startTenant(), startTenant()]);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await scene[Symbol.asyncDispose]();
});

async function startTenant(): Promise<TenantServer> {
  const server = await startRedis({ persistence: true });
  const admin = await connectRedis({ url: server.url, clientName: "admin", log: silentLog });
  closing.push(async () => {
    await disconnectRedis(admin);
    await server.stop();
  });
  return { server, admin };
}

const identityIn = (namespace: string): FunctionIdentity => ({
  namespace,
  name: "sites",
  uid: `u-${namespace}`,
});
const functions = ["a", "b", "c"].map((namespace) =>
  registrationOf(identityIn(namespace), { for: configMapKind }),
);
const own = { namespace: "drover", name: "reconcilefunctions.drover.dev", uid: "u" };
const all = [...functions, registrationOf(own, { for: configMapKind })];
const both = () => [tenantOf("a", a.server), tenantOf("b", b.server)];
/** A bridge with these tenants. */
async function startBridge(...tenants: readonly Tenant[]) {
  const redis = openTestTenants(scene.admin, tenants);
  const { bridge } = await scene.startBridge({ redisFor: redis.redisFor });
  bridge.register(all);
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await bridge.close();
    await redis.close();
  };
  closing.unshift(stop);
  return { bridge, stop };
}

const entryOf = (admin: RedisConnection, namespace: string, name: string) =>
  admin.hgetall(`{drover:${queueOf(identityIn(namespace))}}:key:default/${name}`);
/** The queue of that namespace has been woken for this version of an object, or a later one. */
const woken = (admin: RedisConnection, namespace: string, name: string, version: string) =>
  until(async () =>
    expect(Number((await entryOf(admin, namespace, name))["version:configmaps"] ?? 0)).toBeGreaterThanOrEqual(
      Number(version),
    ),
  );
const wakes = async (admin: RedisConnection, namespace: string, name: string) =>
  Number((await entryOf(admin, namespace, name))["wakes"] ?? 0);
/** Changes objects. The queues of `b` and `c`, which are never broken, are woken for each change. @returns the versions. */
async function change(...names: readonly string[]): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for (const name of names) {
    const version = await scene.put(name, { data: { at: `${Math.random()}` } });
    versions.set(name, version);
    await woken(b.admin, "b", name, version);
    await woken(scene.admin, "c", name, version);
  }
  return versions;
}

it("each tenant's Redis has only the keys of its queues, and Drover's own has none of them", async () => {
  await startBridge(...both());
  const [version = ""] = (await change("one")).values();
  await woken(a.admin, "a", "one", version);
  for (const [namespace, { admin }] of [
    ["a", a],
    ["b", b],
  ] as const) {
    const keys = await admin.keys("*");
    expect(keys.filter((key) => !key.startsWith(`{drover:${queueOf(identityIn(namespace))}}`))).toEqual([]);
    expect(keys).not.toEqual([]);
  }
  const keys = await scene.admin.keys("*");
  expect(keys.filter((key) => /^\{drover:[ab]\//.test(key))).toEqual([]);
  for (const prefix of [
    `{drover.system:${queueOf(own)}}`,
    "{drover-bridges}",
    "{drover-stream:",
    "{drover:c/",
  ])
    expect(
      keys.some((key) => key.startsWith(prefix)),
      prefix,
    ).toBe(true);
});

const breaks: readonly (readonly [string, (of: TenantServer) => unknown, (of: TenantServer) => unknown])[] = [
  ["is killed", ({ server }) => server.kill(), ({ server }) => server.restart()],
  [
    "stands still",
    ({ server }) => process.kill(server.pid, "SIGSTOP"),
    ({ server }) => process.kill(server.pid, "SIGCONT"),
  ],
  [
    "is full",
    ({ admin }) => admin.config("SET", "maxmemory", "1"),
    ({ admin }) => admin.config("SET", "maxmemory", "0"),
  ],
  [
    "gets an unsafe setting",
    ({ admin }) => admin.config("SET", "maxmemory-policy", "volatile-lru"),
    ({ admin }) => admin.config("SET", "maxmemory-policy", "noeviction"),
  ],
];

it.each(breaks)(
  "while a tenant's Redis %s, the others are woken for every change, and it catches up later",
  async (_what, breakIt, mend) => {
    const { bridge } = await startBridge(...both());
    const [before = ""] = (await change("still")).values();
    await woken(a.admin, "a", "still", before);
    await breakIt(a);
    const during = await change("one", "two");
    for (const [name, version] of await change("two", "three")) during.set(name, version);
    expect(bridge.problems()).toEqual([]);
    await until(() => expect(bridge.notes().join()).toMatch(/the queue of a\/sites/));
    await mend(a);
    for (const [name, version] of during) await woken(a.admin, "a", name, version);
    await scene.caughtUp(bridge);
    await until(() => expect(bridge.notes()).toEqual([]));
  },
);

it("a bridge that starts without a tenant's Redis serves the others, and wakes every key there when it is back", async () => {
  await a.server.kill();
  const { bridge } = await startBridge(...both());
  const during = await change("one", "two");
  await until(() =>
    expect(bridge.unresponsiveQueues().get(queueOf(identityIn("a")))).toMatch(/not reachable/),
  );
  expect(bridge.problems()).toEqual([]);
  expect(() => bridge.queueOf(queueOf(identityIn("a")))).toThrow(/The Redis of a is not used/);
  await a.server.restart();
  for (const [name, version] of during) await woken(a.admin, "a", name, version);
  await until(() => expect(bridge.notes()).toEqual([]));
});

it("a bridge that starts while a tenant has used up its Redis connections serves the others, and that tenant later", async () => {
  const rules = redisUserRules({ role: "function", controllers: [queueOf(identityIn("a"))] });
  await a.admin.call("ACL", "SETUSER", "hostile", ...rules.split(" "), ">secret");
  await a.admin.config("SET", "maxclients", "20");
  const url = new URL(a.server.url);
  [url.username, url.password] = ["hostile", "secret"];
  const hostile = Array.from({ length: 40 }, () => {
    const connection = new Redis(url.href, { retryStrategy: () => 10 });
    connection.on("error", () => undefined);
    return connection;
  });
  closing.unshift(() => hostile.forEach((each) => each.disconnect()));
  await until(async () => expect(await a.admin.info("stats")).toMatch(/rejected_connections:[1-9]/));
  const { bridge } = await startBridge(...both());
  const during = await change("one", "two");
  await until(() =>
    expect(bridge.notes().join()).toMatch(/the queue of a\/sites .*The Redis of a is not used/),
  );
  expect(bridge.problems()).toEqual([]);
  for (const each of hostile) each.disconnect();
  for (const [name, version] of during) await woken(a.admin, "a", name, version);
  await until(() => expect(bridge.notes()).toEqual([]));
});

it("a namespace that moves to its own Redis has every key woken there, and no key again elsewhere", async () => {
  const shared = await startBridge(tenantOf("b", b.server));
  const before = await change("one", "two");
  for (const [name, version] of before) await woken(scene.admin, "a", name, version);
  await shared.stop();
  await scene.remove("two");
  const missed = await scene.put("three");
  const { bridge } = await startBridge(...both());
  await woken(a.admin, "a", "one", before.get("one") ?? "");
  await woken(a.admin, "a", "three", missed);
  await woken(b.admin, "b", "three", missed);
  await scene.caughtUp(bridge);
  expect(await wakes(b.admin, "b", "one")).toBe(1);
  expect(await wakes(scene.admin, "a", "three")).toBe(0);
});

it("a function that empties its own queue ten times causes at most five relists of shared streams", async () => {
  const { bridge } = await startBridge(...both());
  await change("one");
  const queue = queueOf(identityIn("a"));
  await until(async () => expect(await entryOf(a.admin, "a", "one")).not.toEqual({}));
  const streams = new Set<unknown>();
  const looking = setInterval(() => bridge.followed().forEach((stream) => streams.add(stream)), 1);
  closing.unshift(() => clearInterval(looking));
  const origins = new Set<string>();
  const begun = performance.now();
  for (let i = 0; i < 10; i++) {
    await a.admin.del(`{drover:${queue}}:control`);
    await until(async () =>
      expect(origins.add(await bridge.queueOf(queue).firstIncarnation()).size).toBe(i + 1),
    );
    // Time for a stream to be restarted, if it is: another change is delivered, and the keeper had a turn.
    await change("two");
    await until(() => expect(bridge.problems()).toEqual([]));
  }
  // The first one, the free ones, and one for each 15 s that this took.
  expect(streams.size).toBeLessThanOrEqual(1 + 5 + Math.floor((performance.now() - begun) / 15_000));
  const [version = ""] = (await change("three")).values();
  await woken(a.admin, "a", "three", version);
});
