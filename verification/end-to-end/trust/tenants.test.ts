import { reconcileFunctionOf, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { Redis } from "ioredis";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { z } from "zod";
import { namespaceNamed, object } from "../../harness/manifests.ts";
import { deployedWorldOfFile, passwordOf } from "../stage/deployed-world.ts";
import { Gadget, gadgetController, gadgetsCommand } from "../functions/gadgets.ts";
import type { Started } from "../../harness/start-process.ts";
import { conditionOf, eventually, isReady, ofCluster, queueOf } from "../stage/world.ts";

const [one, two] = await Promise.all([startRedis({ persistence: true }), startRedis({ persistence: true })]);
afterAll(() => Promise.all([one.stop(), two.stop()]));
const world = await deployedWorldOfFile([Gadget], { gadgets: { command: gadgetsCommand } });
/** The servers, and their administrators: Drover's own, and one for each of two tenants. */
const servers = { main: world.redis, one, two };
const connect = async (of: RedisServer) => {
  const admin = await connectRedis({ url: of.url, clientName: "test", log: silentLog, loadsScripts: false });
  world.atEnd(() => disconnectRedis(admin));
  return admin;
};
const admins = { main: await connect(servers.main), one: await connect(one), two: await connect(two) };
let parts: readonly Started[] = [world.bridge, world.deployer];
for (const name of ["one", "two"]) await world.cluster.apply(namespaceNamed(name));

/** Bridge and deployer are started again, and these namespaces have a Redis of their own. */
async function restart(...tenants: readonly ("one" | "two")[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
  const file = join(world.folder, "tenants.yaml");
  writeFileSync(
    file,
    JSON.stringify(tenants.map((name) => ({ namespaces: [name], url: servers[name].url }))),
  );
  const env = { DROVER_TENANTS_FILE: file, DROVER_SWEEP_EVERY: "500ms" };
  const { DROVER_SWEEP_EVERY: _, ...forBridge } = env;
  parts = await Promise.all([
    world.startBridge({ functions: ofCluster, awaited: "Serving", env: forBridge }),
    world.startDeployer(env),
  ]);
}

/** The function of the gadgets of one namespace. */
const gadgets = (namespace: string) => {
  const { spec, ...rest } = reconcileFunctionOf(gadgetController, {
    container: { image: "gadgets" },
    // That of `two` is given a Pod by the deployer, again and again.
    scaling: namespace === "two" ? { min: 0, idleAfter: "1s" } : { min: 1 },
  });
  const { for: gadgetKind, watches: _, ...others } = spec;
  return {
    ...rest,
    metadata: { namespace, name: "gadgets" },
    // A Pod without its Redis has the time of its runs, and some seconds, to end.
    spec: { ...others, timeout: "1s", for: { ...gadgetKind, namespaces: [namespace] } },
  };
};
const gadget = (namespace: string, name: string) => object(Gadget, name, {}, namespace);
const reconciled = async (namespace: string, name: string): Promise<void> => {
  await world.applyReady(gadget(namespace, name));
};
const usersIn = async (of: keyof typeof servers): Promise<readonly string[]> =>
  z
    .array(z.string())
    .parse(await admins[of].acl("USERS"))
    .filter((user) => user.startsWith("function:"));
const keysIn = (of: keyof typeof servers, pattern: string) => admins[of].keys(pattern);
const podsOf = async (namespace: string): Promise<number> =>
  z
    .object({ items: z.array(z.unknown()) })
    .parse(await world.cluster.read(`/api/v1/namespaces/${namespace}/pods`)).items.length;
/** The answer of a Redis server to a login with that user and password. */
async function login(of: keyof typeof servers, user: string, password: string): Promise<string> {
  const redis = new Redis(servers[of].url, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined);
  await redis.connect();
  const answer = await redis.call("AUTH", user, password).catch((error: unknown) => String(error));
  redis.disconnect();
  return String(answer);
}

it("a function moves, with its Redis user, to the Redis that its namespace gets, and reconciles every object there", async () => {
  for (const namespace of ["one", "two"]) {
    await world.applyReady(gadgets(namespace));
    await reconciled(namespace, "before");
  }
  expect(await usersIn("main")).toHaveLength(2);
  await restart("one", "two");
  for (const namespace of ["one", "two"] as const) {
    const queue = await queueOf(world, gadgets(namespace));
    const runs = async () =>
      Number((await admins[namespace].llen(`{drover:${queue}}:history:${namespace}/before`)) > 0);
    await eventually(async () => expect(await runs()).toBe(1));
    await reconciled(namespace, "after");
    expect(await usersIn(namespace)).toEqual([`function:${queue}`]);
  }
  await eventually(async () => expect(await usersIn("main")).toEqual([]));
  await eventually(async () => expect(await keysIn("main", "{drover:*")).toEqual([]));
});

it("a function's user logs in at its own Redis, and at no other", async () => {
  const user = `function:${await queueOf(world, gadgets("one"))}`;
  const password = await passwordOf(world, { namespace: "one", name: "gadgets" });
  expect(await login("one", user, password)).toBe("OK");
  for (const other of ["two", "main"] as const)
    expect(await login(other, user, password)).toMatch(/WRONGPASS/);
});

it("the deployer's own queue has no key in a tenant's Redis, and no tenant's has one in another", async () => {
  expect(await keysIn("main", "{drover.system:*")).not.toEqual([]);
  for (const namespace of ["one", "two"] as const) {
    const queue = await queueOf(world, gadgets(namespace));
    const others = (await keysIn(namespace, "*")).filter((key) => !key.startsWith(`{drover:${queue}`));
    // Bridge and deployer record their scripts in each Redis that they use.
    const scripts = others.filter((key) => /^\{drover-scripts\}(:[0-9a-f]{64})?$/.test(key));
    expect(scripts).not.toEqual([]);
    expect(others).toEqual(scripts);
  }
});

it.each<[what: string, breakIt: () => unknown, mend: () => unknown]>([
  ["is killed", () => servers.one.kill(), () => servers.one.restart()],
  [
    "stands still",
    () => process.kill(servers.one.pid, "SIGSTOP"),
    () => process.kill(servers.one.pid, "SIGCONT"),
  ],
])(
  "a tenant with a Redis that %s reports it, recovers, and delays no other tenant",
  async (what, breakIt, mend) => {
    const name = what.replace(" ", "-");
    await breakIt();
    await world.cluster.apply(gadget("one", `missed-${name}`));
    await world.until(gadgets("one"), (object) => conditionOf(object)?.reason === "RedisNotUsable");
    for (const time of ["first", "second"]) {
      await eventually(async () => expect(await podsOf("two")).toBe(0));
      await reconciled("two", `${time}-${name}`);
    }
    await mend();
    await world.until(gadget("one", `missed-${name}`), isReady);
    await world.until(gadgets("one"), isReady);
  },
);

it("a function goes though its Redis is away, and what it left there is taken when that is back", async () => {
  await servers.one.kill();
  await world.removed(gadgets("one"));
  await servers.one.restart();
  await eventually(async () => expect(await usersIn("one")).toEqual([]));
  await eventually(async () => expect(await keysIn("one", "{drover:*")).toEqual([]));
  await reconciled("two", "last");
});

it("a deployer without a bridge gives Redis the scripts that it lacks", async () => {
  await parts[0]!.stop();
  const cached = async () =>
    Number(/number_of_cached_scripts:(\d+)/.exec(await admins.main.info("memory"))?.[1]);
  await admins.main.script("FLUSH");
  await eventually(async () => expect(await cached()).toBeGreaterThan(10));
});

it.each(["bridge", "deployer", "gateway"])(
  "the %s does not start where a tenant's Redis has Drover's own namespace, from which permissions are granted",
  async (part) => {
    const file = join(world.folder, "own-tenant.yaml");
    writeFileSync(file, JSON.stringify([{ namespaces: ["two", "drover"], url: servers.two.url }]));
    const started = world.startProcess(part, `apps/${part}/src/main.ts`, "; watching", {
      DROVER_TENANTS_FILE: file,
    });
    await expect(started).rejects.toThrow("the namespace drover is the deployer's own");
  },
);
