import { ReconcileFunction, silentLog } from "@drover/controller";
import { thisMachine } from "@drover/local-servers";
import { openWorkQueue } from "@drover/queue";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { signedHeaders } from "../../../packages/bridge/src/hooks/hook.fixture.ts";
import { coreKind, namespaceNamed, object, secret } from "../../harness/manifests.ts";
import { formsOf, written } from "../stage/written.ts";
import { openRedisGate } from "../stage/redis-gate.ts";
import { crash, type Started } from "../../harness/start-process.ts";
import { eventually, loggedUrl, ofCluster, queueOf, metricsOf, worldOfFile } from "../stage/world.ts";

const controller = "sites.example.com";
const canary = () => `whsec_${randomBytes(32).toString("base64")}`;
const secrets = [canary(), canary()] as const;
const registration = object(ReconcileFunction, controller, {
  for: coreKind("ConfigMap", { namespaces: ["web"] }),
  hooks: [
    {
      name: "sites",
      verify: { standardWebhooks: { secretRef: { name: "hooks", key: "sites" } } },
      names: { field: "sites[]", namespace: "web", acrossNamespaces: true },
    },
  ],
});
const secretOf = (value: string) => secret("hooks", { sites: value });

const world = await worldOfFile(ReconcileFunction);
const gate = await openRedisGate(world.redis.port);
world.atEnd(() => gate.close());
const redis = await world.connectRedis();
await world.cluster.apply(namespaceNamed("web"));
await world.cluster.apply(secretOf(secrets[0]));
await world.cluster.apply(registration);
const queueName = await queueOf(world, registration);
let bridge = await startBridge();

/** A bridge behind the gate that takes events, with its hooks known. */
async function startBridge(): Promise<Started & { readonly hooks: string }> {
  const started = await world.startBridge({
    functions: ofCluster,
    awaited: "Accepting events",
    machine: thisMachine, // The sender is this process.
    env: { DROVER_HOOKS_PORT: "0", DROVER_REDIS_URL: gate.url, DROVER_LOG_LEVEL: "debug" },
  });
  return { ...started, hooks: await loggedUrl(started, "hooks") };
}

interface Event {
  readonly id: string;
  readonly sites: readonly string[];
  readonly secret?: string;
}
/** The status that a sender gets; undefined when the bridge ends before it answers. */
async function send({ id, sites, secret: by = secrets[0] }: Event, to = bridge): Promise<number | undefined> {
  const body = JSON.stringify({ sites, customer: "canary-of-the-body" });
  const headers = { "content-type": "application/json", ...signedHeaders(body, { secret: by, id }) };
  const answer = fetch(`${to.hooks}/hooks/default/${controller}/sites`, { method: "POST", body, headers });
  return answer.then(
    ({ status }) => status,
    () => undefined,
  );
}
/** How often a key was woken, as the ledger counts. */
const wakes = async (site: string): Promise<number> =>
  Number((await redis.hget(`{drover:${queueName}}:key:web/${site}`, "wakes")) ?? 0);
const idsKept = (): Promise<number> => redis.zcard(`{drover-hook:${queueName}}:sites`);
const killed = async (): Promise<void> => {
  await crash(bridge);
  gate.open();
};

it("a signed event that is sent twice wakes its key once, even through another bridge", async () => {
  await eventually(async () => expect(await send({ id: "once", sites: ["a"] })).toBe(204));
  expect(await send({ id: "once", sites: ["a"] })).toBe(204);
  const other = await startBridge();
  await eventually(async () => expect(await send({ id: "once", sites: ["a"] }, other)).toBe(204));
  expect(await wakes("a")).toBe(1);
  expect(await send({ id: "forged", sites: ["a"], secret: canary() })).toBe(401);
  expect(await metricsOf(bridge)).toMatch(
    /drover_hook_events_total\{hook="default\/sites.example.com\/sites",outcome="repeated"\} 1/,
  );
  await other.stop();
});

it("an event whose bridge was killed between wake and answer wakes no key again when it is re-sent", async () => {
  const event = { id: "killed-late", sites: ["b"] };
  const kept = await idsKept();
  const recorded = gate.keepAnswersTo("{drover-hook:", "\r\n100000\r\n"); // only the script that records an id has this number
  const status = send(event);
  await recorded;
  await eventually(async () => expect(await idsKept()).toBe(kept + 1));
  await killed();
  expect(await status).toBeUndefined();
  expect(await wakes("b")).toBe(1);
  bridge = await startBridge();
  await eventually(async () => expect(await send(event)).toBe(204));
  expect(await wakes("b")).toBe(1);
});

it("an event whose bridge was killed between wake and id wakes its key again when it is re-sent; one run covers both", async () => {
  const event = { id: "killed-early", sites: ["c"] };
  const woken = gate.keepAnswersTo('"kind":"hook:sites"');
  const status = send(event);
  await woken;
  await eventually(async () => expect(await wakes("c")).toBe(1));
  await killed();
  expect(await status).toBeUndefined();
  bridge = await startBridge();
  await eventually(async () => expect(await send(event)).toBe(204));
  expect(await wakes("c")).toBe(2);
  expect(await send(event)).toBe(204);
  expect(await wakes("c")).toBe(2);
});

it("while Redis is down a sender gets 503; its event is accepted once Redis is back", async () => {
  await world.redis.kill();
  expect(await send({ id: "away", sites: ["d"] })).toBe(503);
  await world.redis.restart();
  await eventually(async () => expect(await send({ id: "away", sites: ["d"] })).toBe(204));
  expect(await wakes("d")).toBeGreaterThanOrEqual(1);
});

it("a new secret is accepted from the first event that is signed with it", async () => {
  await world.cluster.apply(secretOf(secrets[1]));
  expect(await send({ id: "rotated", sites: ["e"], secret: secrets[1] })).toBe(204);
  expect(await send({ id: "rotated-old", sites: ["e"] })).toBe(401);
  await world.cluster.apply(secretOf(`${secrets[1]}\n${secrets[0]}`));
  expect(await wakes("e")).toBe(1);
});

it("each of these keys had one run", async () => {
  const queue = openWorkQueue({ redis, controller: queueName, log: silentLog });
  const runs: string[] = [];
  const worker = queue.work(
    ({ key, claim }) => {
      runs.push(`${key} ${claim.reasons.join()}`);
      return Promise.resolve({ kind: "done" });
    },
    { concurrency: 5, timeout: 10_000 },
  );
  await eventually(async () => expect(await queue.stats(5_000)).toMatchObject({ due: 0, running: 0 }));
  await worker.drain(1_000);
  await queue.close();
  expect(runs.filter((run) => /web\/[a-e] /.test(run)).sort()).toEqual(
    ["a", "b", "c", "d", "e"].map((site) => `web/${site} Hook sites`),
  );
});

it("no secret and no body is in Redis, in a log or in a metric", async () => {
  const all = await written(world, bridge);
  expect(all.includes(`{drover-hook:${queueName}}`)).toBe(true);
  expect(all.includes(`"hook":"default/${controller}/sites"`)).toBe(true);
  for (const form of secrets.flatMap(formsOf)) expect(all.includes(form)).toBe(false);
  expect(all.includes("canary-of-the-body")).toBe(false);
});

it("the bridge does not start with a world-readable secret file, and its error names the fix", async () => {
  const folder = join(world.folder, "registered");
  mkdirSync(join(folder, "secrets/hooks"), { recursive: true });
  writeFileSync(
    join(folder, "sites.yaml"),
    JSON.stringify({ ...registration, metadata: { name: controller } }),
  );
  writeFileSync(join(folder, "secrets/hooks/sites"), canary(), { mode: 0o644 });
  const start = (secretsAt: string) =>
    world.startBridge({ functions: folder, env: { DROVER_HOOKS_PORT: "0", DROVER_HOOK_SECRETS: secretsAt } });
  await expect(start(join(folder, "secrets"))).rejects.toThrow(
    /every user on this machine may read .*chmod 600/,
  );
  await expect(start("")).rejects.toThrow(/Set DROVER_HOOK_SECRETS/);
});
