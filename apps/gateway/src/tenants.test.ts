import { objectKey, type QueueName, ReconcileFunction, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, openWorkQueue, type RedisConnection } from "@drover/queue";
import { declaredFunctions, openRegistry, openTenantRedis, type TenantRedis } from "@drover/runtime";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import { audienceOf } from "@drover/calls";
import { pendingRuns } from "@drover/calls";
import { type Gateway, openGateway } from "./gateway.ts";
import { callMetrics } from "./gateway-metrics.ts";
import { parseNetworks } from "./targets/addresses.ts";
import { checkQueues } from "./check-queues.ts";
import { selectWebhookFunctions } from "./select-webhook-functions.ts";

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" };
const namespaces = ["a", "b", "c"] as const;
const { client } = await sandboxOfFile();
let servers: readonly RedisServer[];
let main: RedisConnection;
/** Administrators of the servers, by namespace; `c` is in Drover's own. */
let admins: Readonly<Record<(typeof namespaces)[number], RedisConnection>>;
let tenants: TenantRedis;
let gateway: Gateway;
/** The queues whose runs have ended. */
const settled: string[] = [];

beforeAll(async () => {
  const start = () => startRedis({ persistence: true });
  const started = await Promise.all([start(), start(), start()]);
  const [own, a, b] = started;
  servers = started;
  const admin = ({ url }: RedisServer) => connectRedis({ url, clientName: "admin", log: silentLog });
  main = await admin(own);
  admins = { a: await admin(a), b: await admin(b), c: main };
  tenants = openTenantRedis({
    tenants: [
      { namespaces: ["a"], url: a.url },
      { namespaces: ["b"], url: b.url },
    ],
    main,
    clientName: "gateway",
    loadsScripts: false,
    log: silentLog,
    times: { checkInterval: 50, checkTimeout: 1_000, connectTimeout: 500 },
  });
  gateway = openGateway({
    client,
    redisFor: tenants.redisFor,
    log: silentLog,
    grace: 100,
    pending: pendingRuns(),
    complete: undefined,
    calls: callMetrics(openRegistry()),
    times: { lease: 1_000, renewal: 300 },
    rules: { client, allowed: [], networks: parseNetworks([]), unselected: false },
    runs: { settled: (queue) => void settled.push(queue) },
  });
});
afterAll(async () => {
  await gateway.close();
  await tenants.close();
  await Promise.all(Object.values(admins).map(disconnectRedis));
  await Promise.all(servers.map((server) => server.stop()));
});

const functions = namespaces.map((namespace) => {
  const metadata = { name: "maps", namespace, uid: "u", resourceVersion: "1" };
  const object = {
    apiVersion: ReconcileFunction.apiVersion,
    kind: ReconcileFunction.kind,
    metadata,
    spec: { for: configMaps, delivery: "webhook" },
  };
  const declared = declaredFunctions(new Map([[objectKey(metadata), object]]));
  return selectWebhookFunctions(declared, undefined).functions[0]!;
});
const queueIn = (namespace: (typeof namespaces)[number]): QueueName =>
  functions[namespaces.indexOf(namespace)]!.queue;
const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 30_000, interval: 20 });
/** A key is due in the queue of that namespace, in its server. */
async function wake(namespace: (typeof namespaces)[number], name: string): Promise<void> {
  const queue = openWorkQueue({ redis: admins[namespace], controller: queueIn(namespace), log: silentLog });
  const key = objectKey({ namespace: "default", name });
  await queue.wake([{ key, kind: "configmaps", resourceVersion: "1", reason: "Added", class: "change" }]);
  await queue.close();
}
const worked = async (namespace: (typeof namespaces)[number], name: string): Promise<void> => {
  settled.length = 0;
  await wake(namespace, name);
  await until(() => expect(settled).toContain(queueIn(namespace)));
};

it("takes keys of each function in its server, of one whose server is away when that comes", async () => {
  await servers[1]!.kill();
  await until(() => expect(tenants.problems()).toHaveLength(1));
  gateway.register(functions);
  for (const namespace of ["b", "c"] as const) await worked(namespace, "one");
  expect(gateway.notes().join()).toMatch(/The Redis of a is not used/);
  const note = expect.stringMatching(/The Redis of a is not used/) as string;
  expect(await checkQueues(gateway, tenants, 10_000)).toEqual({ note });
  expect(gateway.queues().map(({ controller }) => controller)).not.toContain(queueIn("a"));
  await servers[1]!.restart();
  await worked("a", "one");
  expect(gateway.notes()).toEqual([]);
  expect(await main.keys("{drover:[ab]/*")).toEqual([]);
});

it("is ready with a note though a tenant's server does not answer, and not where Drover's own does not", async () => {
  const ready = (within = 500) => checkQueues(gateway, tenants, within);
  const stopped = [servers[1]!, servers[0]!].map(({ pid }) => pid);
  const [tenant, own] = stopped;
  expect(await ready(10_000)).toBeUndefined();
  try {
    process.kill(tenant!, "SIGSTOP");
    const note = expect.stringContaining(
      "the queue of a/maps: Redis did not answer within 500 ms.",
    ) as string;
    expect(await ready()).toEqual({ note });
    process.kill(own!, "SIGSTOP");
    await expect(ready()).rejects.toThrow("Redis did not answer within 500 ms.");
  } finally {
    for (const pid of stopped) process.kill(pid, "SIGCONT");
  }
  await until(async () => expect(await ready(10_000)).toBeUndefined());
});

it("leaves a server that has become unfit, and takes keys there when it is fit again", async () => {
  await admins.a.config("SET", "maxmemory-policy", "allkeys-lru");
  await until(() => expect(gateway.notes().join()).toMatch(/evicts keys/));
  await worked("b", "two");
  await admins.a.config("SET", "maxmemory-policy", "noeviction");
  await worked("a", "two");
});

it("knows the secrets of a function that comes to its end until its calls have", async () => {
  const audience = audienceOf(functions[2]!);
  await worked("c", "three");
  gateway.register(functions.slice(0, 2));
  expect(gateway.secretsOf(audience)).toBeDefined();
  await until(() => expect(gateway.secretsOf(audience)).toBeUndefined());
});
