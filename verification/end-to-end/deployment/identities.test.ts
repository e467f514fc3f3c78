import {
  type FunctionDeployment,
  objectKey,
  ReconcileFunction,
  reconcileFunctionOf,
  silentLog,
} from "@drover/controller";
import { builtin, refOf } from "@drover/kube";
import { connectRedis, disconnectRedis, openWorkQueue } from "@drover/queue";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { crash } from "../../harness/start-process.ts";
import { core, namespaceNamed, object, withMetadata } from "../../harness/manifests.ts";
import { deployedWorldOfFile, passwordOf, usersOf } from "../stage/deployed-world.ts";
import { Gadget, gadgetController, gadgetsCommand, mapFor } from "../functions/gadgets.ts";
import { openRedisGate } from "../stage/redis-gate.ts";
import { eventually, isGone, queueOf } from "../stage/world.ts";

const sweeping = { DROVER_SWEEP_EVERY: "500ms" };
const world = await deployedWorldOfFile([Gadget], { gadgets: { command: gadgetsCommand } }, sweeping);
const gate = await openRedisGate(world.redis.port);
world.atEnd(() => gate.close());
const admin = await world.connectRedis();
await world.cluster.apply(namespaceNamed("tenant"));

/** The function of gadgets, which maps ConfigMaps in code, with a namespace and a name of its own. */
const gadgets = (metadata: { namespace: string; name: string }, more: FunctionDeployment = {}) => {
  const container = { image: "gadgets" };
  return { ...reconcileFunctionOf(gadgetController, { container, scaling: { min: 1 }, ...more }), metadata };
};
const own = { namespace: "default", name: "gadgets" };
const gadget = (name: string) => object(Gadget, name, {});
/** Keys in Redis with a name that contains a text. */
const keysOf = (text: string): Promise<readonly string[]> => admin.keys(`*${text}*`);
/** The connections of a Redis user, by their ids. */
const connectionsOf = async (user: string): Promise<readonly string[]> =>
  String(await admin.client("LIST"))
    .split("\n")
    .filter((line) => line.includes(` user=${user} `))
    .map((line) => line.split(" ")[0] ?? "");
/** What Kubernetes' garbage collector does, which an API server alone has not. */
async function collectGarbage({ namespace, name }: typeof own): Promise<void> {
  const [account, service] = [
    core("ServiceAccount", name, {}, namespace),
    core("Service", name, {}, namespace),
  ];
  for (const owned of [core("Secret", `${name}-redis`, {}, namespace), account, service]) {
    await world.removed(owned);
  }
  await world.client.delete(builtin.networkPolicy, objectKey({ namespace, name })).catch(() => undefined);
}
const deployed = async (function_: ReturnType<typeof gadgets>): Promise<string> => {
  await world.applyReady(function_);
  return queueOf(world, function_);
};

it("a function named like another function's names queue reaches none of that queue's keys", async () => {
  const queue = await deployed(gadgets(own));
  await world.applyReady(gadget("a"));
  await world.cluster.apply(mapFor("a"));
  await eventually(async () => expect(await keysOf(`${queue}/names/configmaps`)).not.toEqual([]));

  const alike = { namespace: "tenant", name: "gadgets.names.configmaps" };
  const its = await deployed(gadgets(alike));
  const url = new URL(world.redis.url);
  [url.username, url.password] = [`function:${its}`, await passwordOf(world, alike)];
  const redis = await connectRedis({
    url: url.href,
    clientName: "alike",
    log: silentLog,
    loadsScripts: false,
  });
  const all = await admin.keys("*");
  const reached = await Promise.all(
    all.map((key) =>
      redis.exists(key).then(
        () => [key],
        (error: unknown) => (String(error).includes("NOPERM") ? [] : [`${key}: ${String(error)}`]),
      ),
    ),
  );
  await disconnectRedis(redis);
  expect(reached.flat().every((key) => key.startsWith(`{drover:${its}`))).toBe(true);
  expect(reached.flat()).not.toEqual([]);
  await world.removed(gadgets(alike));
});

it("deleting a function leaves its namesake in another namespace intact, whatever its status contains", async () => {
  const queue = await queueOf(world, gadgets(own));
  const [user = ""] = await usersOf(world, own.name);
  const before = await connectionsOf(user);
  expect(before).not.toEqual([]);

  const namesake = { namespace: "tenant", name: own.name };
  const { spec, ...rest } = gadgets(namesake);
  const { container: _, ...registered } = spec;
  const other = { ...rest, spec: registered };
  await world.applyReady(other);
  expect(await queueOf(world, other)).not.toBe(queue);
  const forged = { type: "merge", body: { status: { delivered: "pull" } } } as const;
  await world.client.patch(refOf(ReconcileFunction), objectKey(namesake), forged, { subresource: "status" });
  await world.removed(other);

  // One that was cut would be there again under another id; more may have come meanwhile.
  expect(await connectionsOf(user)).toEqual(expect.arrayContaining([...before]));
  expect(await usersOf(world, own.name)).toEqual([user]);
  await world.applyReady(gadget("after"));
});

it("a function that is deleted leaves no key and no user, and the next one of its name inherits nothing", async () => {
  const queue = await queueOf(world, gadgets(own));
  const bare = queue.slice(queue.lastIndexOf("/") + 1);
  // What the one before it left: a pause, and a key that its bridge goes on waking.
  const operated = openWorkQueue({ redis: admin, controller: queue, log: silentLog });
  await operated.pause({ kind: "object", key: objectKey({ namespace: "default", name: "a" }) }, "tests");
  await operated.close();
  const busy = new AbortController();
  let n = 0;
  const touching = (async () => {
    while (!busy.signal.aborted) {
      await world.cluster.apply(withMetadata(gadget("restless"), { labels: { n: `${n++}` } }));
      await delay(100);
    }
  })();
  await eventually(() => expect(n).toBeGreaterThan(5));
  expect(await keysOf(bare)).not.toEqual([]);

  await world.removed(gadgets(own));
  expect(await usersOf(world, own.name)).toEqual([]);
  await collectGarbage(own);
  const again = await deployed(gadgets(own));
  expect(again).not.toBe(queue);
  await world.cluster.apply(withMetadata(gadget("a"), { labels: { again: "yes" } }));
  await eventually(async () =>
    expect(Number(await admin.hget(`{drover:${again}}:key:default/a`, "ranAt"))).toBeGreaterThan(0),
  );
  // The bridge has let go of the old queue by now, and nothing that it wrote until then stays.
  const metrics = async () => (await fetch(`${world.bridge.url}/metrics`)).text();
  await eventually(async () => expect(await metrics()).toContain('controller="default/gadgets"'));
  await eventually(async () => expect(await keysOf(bare)).toEqual([]));
  busy.abort();
  await touching;
  expect(await keysOf(bare)).toEqual([]);
}, 120_000);

it("a deployer that is killed while it deletes a function's keys leaves the rest to the next one", async () => {
  const queue = await queueOf(world, gadgets(own));
  await world.deployer.stop();
  const start = (url: string) => world.startDeployer({ DROVER_REDIS_URL: url, DROVER_SWEEP_EVERY: "1h" });
  const first = await start(gate.url);
  const deleting = gate.keepAnswersTo("unlink", queue);
  await world.cluster.remove(gadgets(own));
  await deleting;
  await crash(first);
  gate.open();
  expect(isGone(await world.cluster.get(gadgets(own)))).toBe(false);

  await admin.set(`{drover:${queue}}:jobs:left`, "by the one before");
  await start(world.redis.url);
  await world.until(gadgets(own), isGone);
  expect(await keysOf(`${queue}}:jobs:left`)).toEqual([]);
  expect(await usersOf(world, own.name)).toEqual([]);
}, 120_000);
