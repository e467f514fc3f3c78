import { customResourceDefinition, ReconcileFunction } from "@drover/controller";
import { freePort, thisMachine } from "@drover/local-servers";
import { randomBytes, randomUUID } from "node:crypto";
import { signMessage } from "@drover/webhook";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Greeting } from "../../../functions/examples/typescript/greeting.ts";
import { calledAccount } from "../stage/called-account.ts";
import type { Manifest, TestObject } from "../stage/test-cluster.ts";
import type { Started } from "../../harness/start-process.ts";
import { conditionOf, eventually, isGone, ofCluster, startWorld, type World } from "../stage/world.ts";

const controller = "greetings.examples.drover.dev";
const secret = () => `whsec_${randomBytes(24).toString("base64")}`;
const secrets = [secret(), secret()] as const;
const isReal = process.env["DROVER_TEST_CLUSTER"] === "real";

let world: World;
let port: number;
let functionProcess: Started;
let gateway: Started;

const secretOf = (data: Readonly<Record<string, string | null>>): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: `${controller}-webhook`, namespace: "default" },
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, value && Buffer.from(value).toString("base64")]),
  ),
});
/** As a mounted Secret. */
const mount = (data: Readonly<Record<string, string>>): string => {
  const folder = join(world.folder, "mounted");
  mkdirSync(folder, { recursive: true });
  for (const [key, value] of Object.entries(data)) {
    writeFileSync(join(folder, key), value);
    chmodSync(join(folder, key), 0o600);
  }
  return folder;
};
const registration = (more: object = {}): Manifest => ({
  apiVersion: ReconcileFunction.apiVersion,
  kind: ReconcileFunction.kind,
  metadata: { name: controller, namespace: "default" },
  spec: {
    for: {
      group: Greeting.group,
      version: Greeting.version,
      kind: Greeting.kind,
      plural: Greeting.plural,
      scope: Greeting.scope,
    },
    delivery: "webhook",
    // A real cluster gives no Service an address on loopback.
    webhook: {
      ...(isReal ? { url: `http://127.0.0.1:${port}` } : { service: { name: "greetings", port } }),
      finalizes: true,
    },
    retry: { first: "200ms", longest: "1s" },
    ...more,
  },
});
const greeting = (name: string, spec: object = {}): Manifest => ({
  apiVersion: Greeting.apiVersion,
  kind: Greeting.kind,
  metadata: { name, namespace: "default" },
  spec: { name, ...spec },
});

/** Their logs tell of runs that ended well, too. */
const everyRun = { DROVER_LOG_LEVEL: "debug" };
const startGateway = (env: NodeJS.ProcessEnv = {}): Promise<Started> =>
  world.startProcess(
    "gateway",
    "apps/gateway/src/main.ts",
    "Taking keys",
    {
      DROVER_WEBHOOK_NETWORKS: "127.0.0.0/8",
      DROVER_AUTHORS: "trusted",
      DROVER_WEBHOOK_ALLOW: `http://127.0.0.1:${port}`,
      DROVER_LEASE: "1s",
      DROVER_LEASE_RENEWAL: "300ms",
      ...everyRun,
      ...env,
    },
    thisMachine,
  );
/** It has nothing but a secret: no Redis, no kubeconfig. */
const startFunction = (): Promise<Started> =>
  world.startProcess(
    "greetings",
    "functions/examples/typescript/main.ts",
    "Answering calls",
    {
      DROVER_REDIS_URL: undefined,
      DROVER_KUBECONFIG: undefined,
      ...everyRun,
      DROVER_HTTP_PORT: String(port),
      DROVER_WEBHOOK_AUDIENCE: `default/${controller}`,
      DROVER_WEBHOOK_SECRETS: join(world.folder, "mounted"),
    },
    thisMachine,
  );

beforeAll(async () => {
  world = await startWorld();
  port = await freePort();
  mount({ current: secrets[0] });
  await world.cluster.apply({ ...customResourceDefinition(ReconcileFunction) });
  await world.cluster.apply({ ...customResourceDefinition(Greeting) });
  await world.cluster.apply(secretOf({ current: secrets[0] }));
  if (!isReal) {
    await world.cluster.apply({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "greetings", namespace: "default" },
      spec: { clusterIP: "127.0.0.1", selector: { app: "greetings" }, ports: [{ port }] },
    });
  }
  for (const one of calledAccount(controller, Greeting)) await world.cluster.apply(one);
  await world.cluster.apply(registration());
  [gateway] = await Promise.all([startGateway(), world.startBridge({ functions: ofCluster })]);
  functionProcess = await startFunction();
});
afterAll(() => world.stop());

const finalizers = (object: TestObject | undefined) => object?.metadata.finalizers;
const textOf = (object: TestObject | undefined): unknown => object?.status?.["text"];

it("an object is brought on by a function that knows neither cluster nor Redis, and goes when it says so", async () => {
  const ada = greeting("ada");
  await world.cluster.apply(ada);
  const object = await world.until(ada, (now) => conditionOf(now)?.status === "True");
  expect(textOf(object)).toBe("Hello, ada!");
  expect(finalizers(object)).toEqual([`drover.dev/${controller}`]);
  await world.cluster.apply(greeting("ada", { name: "Ada", hold: true }));
  await world.until(ada, (now) => textOf(now) === "Hello, Ada!");
  await world.cluster.remove(ada);
  const held = await world.until(ada, (now) => conditionOf(now)?.reason === "TooEarly");
  expect(finalizers(held)).toHaveLength(1);
  await world.cluster.apply(greeting("ada", { name: "Ada", hold: false }));
  await world.until(ada, isGone);
});

/** It refuses what is no call; before that, what it cannot believe. */
async function believes(secret: string): Promise<void> {
  const body = "{}";
  const headers = signMessage([secret], { id: randomUUID(), at: Date.now() }, body);
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body });
  expect(answer.status).toBe(400);
}

it("a new secret is signed with, and believed, within seconds, and nothing fails on the way", async () => {
  await world.cluster.apply(secretOf({ current: secrets[1], previous: secrets[0] }));
  const rotating = greeting("rotating");
  await world.cluster.apply(rotating);
  await world.until(rotating, (now) => textOf(now) === "Hello, rotating!");
  mount({ current: secrets[1], previous: secrets[0] });
  // The old one is taken away when the function has the new one, as docs/webhook-functions.md has it, and no sooner.
  await eventually(() => believes(secrets[1]));
  await world.cluster.apply(secretOf({ current: secrets[1], previous: null }));
  const rotated = greeting("rotated");
  await world.cluster.apply(rotated);
  await world.until(rotated, (now) => textOf(now) === "Hello, rotated!");
  expect(readFileSync(gateway.logFile, "utf8")).not.toMatch(/Unsigned|HTTP 401/);
});

it("while the function is down its objects wait, say why, and are brought on when it is back", async () => {
  functionProcess.kill("SIGKILL");
  await functionProcess.exited;
  const late = greeting("late");
  await world.cluster.apply(late);
  const waiting = await world.until(late, (now) => conditionOf(now)?.reason === "NotAnswered");
  expect(conditionOf(waiting)?.message).toMatch(
    /127\.0\.0\.1:\d+ did not answer: the connection was refused/,
  );
  functionProcess = await startFunction();
  await world.until(late, (now) => conditionOf(now)?.status === "True");
});

it("what it refuses is parked, with its own words, until the object changes", async () => {
  const bad = greeting("bad", { refuse: true });
  await world.cluster.apply(bad);
  const refused = await world.until(bad, (now) => conditionOf(now)?.reason === "NoGreeting");
  expect(conditionOf(refused)?.message).toBe("The function cannot go on: no greeting for that");
  await world.cluster.apply(greeting("bad", { refuse: false }));
  await world.until(bad, (now) => conditionOf(now)?.status === "True");
});
