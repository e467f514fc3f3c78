import { ReconcileFunction } from "@drover/controller";
import { freePort, thisMachine } from "@drover/local-servers";
import { randomBytes, randomUUID } from "node:crypto";
import { signMessage } from "@drover/webhook";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Greeting } from "../../../examples/typescript/greeting.ts";
import { core, functionFor, type Manifest, object, secret as secretNamed } from "../../harness/manifests.ts";
import { calledAccount } from "../stage/called-account.ts";
import type { TestObject } from "../stage/test-cluster.ts";
import { crash, type Started } from "../../harness/start-process.ts";
import { conditionOf, eventually, isGone, ofCluster, worldOfFile } from "../stage/world.ts";

const controller = "greetings.examples.drover.dev";
const secret = () => `whsec_${randomBytes(24).toString("base64")}`;
const secrets = [secret(), secret()] as const;
const isReal = process.env["DROVER_TEST_CLUSTER"] === "real";

const world = await worldOfFile(ReconcileFunction, Greeting);
const port = await freePort();

const secretOf = (values: Readonly<Record<string, string | null>>): Manifest =>
  secretNamed(`${controller}-webhook`, values);
const mount = (values: Readonly<Record<string, string>>): string => world.mount("mounted", values);
const registration = (): Manifest =>
  functionFor(Greeting, controller, {
    delivery: "webhook",
    // A real cluster gives no Service an address on loopback.
    webhook: {
      ...(isReal ? { url: `http://127.0.0.1:${port}` } : { service: { name: "greetings", port } }),
      finalizes: true,
    },
    retry: { first: "200ms", longest: "1s" },
  });
const greeting = (name: string, spec: object = {}): Manifest => object(Greeting, name, { name, ...spec });

/** Logs successful runs, too. */
const everyRun = { DROVER_LOG_LEVEL: "debug" };
const startGateway = (): Promise<Started> =>
  world.startGateway({
    allowed: port,
    machine: thisMachine,
    env: { DROVER_LEASE: "1s", DROVER_LEASE_RENEWAL: "300ms", ...everyRun },
  });
/** It has nothing but a secret: no Redis, no kubeconfig. */
const startFunction = (): Promise<Started> =>
  world.startServed({
    name: "greetings",
    main: "examples/typescript/main.ts",
    port,
    audience: `default/${controller}`,
    secrets: join(world.folder, "mounted"),
    env: everyRun,
    machine: thisMachine,
  });

mount({ current: secrets[0] });
await world.cluster.apply(secretOf({ current: secrets[0] }));
if (!isReal) {
  const spec = { clusterIP: "127.0.0.1", selector: { app: "greetings" }, ports: [{ port }] };
  await world.cluster.apply(core("Service", "greetings", { spec }));
}
for (const one of calledAccount(controller, Greeting)) await world.cluster.apply(one);
await world.cluster.apply(registration());
const [gateway] = await Promise.all([startGateway(), world.startBridge({ functions: ofCluster })]);
let functionProcess = await startFunction();

const finalizers = (object: TestObject | undefined) => object?.metadata.finalizers;
const textOf = (object: TestObject | undefined): unknown => object?.status?.["text"];

it("a function without access to cluster or Redis reconciles an object, and decides when its finalizer goes", async () => {
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

/** The function checks the signature first (401) and the body second: 400 shows that it accepted the signature. */
async function accepts(secret: string): Promise<void> {
  const body = "{}";
  const headers = signMessage([secret], { id: randomUUID(), at: Date.now() }, body);
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body });
  expect(answer.status).toBe(400);
}

it("a rotated secret signs calls and is accepted within seconds, without a failed call", async () => {
  await world.cluster.apply(secretOf({ current: secrets[1], previous: secrets[0] }));
  const rotating = greeting("rotating");
  await world.cluster.apply(rotating);
  await world.until(rotating, (now) => textOf(now) === "Hello, rotating!");
  mount({ current: secrets[1], previous: secrets[0] });
  // The old one is taken away when the function has the new one, as docs/webhook-functions.md has it, and no sooner.
  await eventually(() => accepts(secrets[1]));
  await world.cluster.apply(secretOf({ current: secrets[1], previous: null }));
  const rotated = greeting("rotated");
  await world.cluster.apply(rotated);
  await world.until(rotated, (now) => textOf(now) === "Hello, rotated!");
  expect(readFileSync(gateway.logFile, "utf8")).not.toMatch(/Unsigned|HTTP 401/);
});

it("while the function is down its objects wait with a reason; they are reconciled once it is back", async () => {
  await crash(functionProcess);
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
