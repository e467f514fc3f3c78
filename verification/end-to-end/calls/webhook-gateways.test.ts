/**
 * The function is an HTTP server of this file, so that a test knows when it is called: gateways are killed and stopped in the
 * middle of a call.
 */
import { ReconcileFunction } from "@drover/controller";
import { thisMachine } from "@drover/local-servers";
import { type Call, callSchema, completionUrl, signMessage } from "@drover/webhook";
import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { listen } from "../../harness/listen.ts";
import { Greeting } from "../../../examples/typescript/greeting.ts";
import { functionFor, type Manifest, object, secret as secretNamed } from "../../harness/manifests.ts";
import { formsOf, written } from "../stage/written.ts";
import { calledAccount } from "../stage/called-account.ts";
import { crash, type Started } from "../../harness/start-process.ts";
import { conditionOf, eventually, loggedUrl, ofCluster, worldOfFile } from "../stage/world.ts";

const controller = "greetings";
const secret = `whsec_${randomBytes(32).toString("base64")}`;

interface Calling {
  readonly call: Call;
  readonly response: ServerResponse;
}
const calls: Calling[] = [];
/** Handles a call. The default leaves it unanswered. */
let onCall: (calling: Calling) => void = () => {};

const answer = ({ call, response }: Calling, body: object = { outcome: "done" }): void => {
  const text = JSON.stringify(body);
  response.writeHead(200, signMessage([secret], { id: call.token, at: Date.now() }, text)).end(text);
};

const declared = (name: string): Manifest =>
  functionFor(Greeting, name, {
    delivery: "webhook",
    webhook: { url: `http://127.0.0.1:${port}` },
    timeout: "60s",
    retry: { first: "100ms", longest: "1s" },
    concurrency: 2,
  });
const secretFor = (name: string): Manifest => secretNamed(`${name}-webhook`, { current: secret });

const world = await worldOfFile(ReconcileFunction, Greeting);
const server = createServer((incoming, response) => {
  void (async () => {
    const call = callSchema.parse(await json(incoming));
    calls.push({ call, response });
    onCall({ call, response });
  })();
});
const port = await listen(server);
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
for (const name of [controller, "hanging"])
  for (const one of calledAccount(name, Greeting)) await world.cluster.apply(one);
await world.cluster.apply(secretFor(controller));
await world.cluster.apply(declared(controller));
await world.startBridge({ functions: ofCluster });

const startGateway = async (): Promise<Started & { readonly complete: string }> => {
  const started = await world.startGateway({
    allowed: port,
    machine: thisMachine,
    env: { DROVER_COMPLETIONS_PORT: "0", DROVER_LEASE: "1s", DROVER_LEASE_RENEWAL: "300ms" },
  });
  return { ...started, complete: await loggedUrl(started, "completions") };
};
const greeting = (name: string): Manifest => object(Greeting, name, { name });
const callsFor = (name: string): readonly Calling[] =>
  calls.filter(({ call }) => call.key === `default/${name}`);
const calledFor = async (name: string, times = 1): Promise<Calling> => {
  await eventually(() => expect(callsFor(name).length).toBeGreaterThanOrEqual(times));
  return callsFor(name)[times - 1]!;
};
const complete = async ({ audience, key, token, complete: url = "" }: Call, to = url): Promise<number> => {
  const body = JSON.stringify({ audience, key, token, result: { outcome: "done", status: { text: token } } });
  const headers = { ...signMessage([secret], { id: `done_${token}`, at: Date.now() }, body) };
  return (await fetch(to, { method: "POST", headers, body })).status;
};

/** Where a gateway takes completions of the function that a call is for. */
const at = (gateway: { readonly complete: string }, { audience }: Call): string =>
  completionUrl(gateway.complete, audience);

it("when a gateway is killed during a call, another one calls again, and the first run's completion is refused", async () => {
  const dead = await startGateway();
  await world.cluster.apply(greeting("killed"));
  const first = await calledFor("killed");
  const other = await startGateway();
  await crash(dead);
  const second = await calledFor("killed", 2);
  expect(second.call.token).not.toBe(first.call.token);
  expect(second.call.fails).toBeGreaterThanOrEqual(first.call.fails);
  answer(second, { outcome: "accepted" });
  expect(await complete(first.call, at(other, first.call))).toBe(409);
  expect(await complete({ ...second.call, token: first.call.token }, at(other, second.call))).toBe(409);
  expect((await world.cluster.get(greeting("killed")))?.status?.["text"]).toBeUndefined();
  expect(await complete(second.call)).toBe(204);
  expect(await complete(second.call)).toBe(409);
  const object = await world.until(greeting("killed"), (now) => conditionOf(now)?.status === "True");
  expect(object?.status?.["text"]).toBe(second.call.token);
  expect(callsFor("killed")).toHaveLength(2);
  await other.stop();
});

it("a gateway that is stopped lets its calls end, also those that wait for a completion", async () => {
  const gateway = await startGateway();
  await world.cluster.apply(greeting("slow"));
  await world.cluster.apply(greeting("promised"));
  const [slow, promised] = [await calledFor("slow"), await calledFor("promised")];
  answer(promised, { outcome: "accepted" });
  const stopped = gateway.stop({ graceMs: 60_000 });
  await world.cluster.apply(greeting("too-late"));
  await eventually(() => expect(readFileSync(gateway.logFile, "utf8")).toMatch(/Stopping/));
  answer(slow, { outcome: "done", status: { text: "slow" } });
  expect(await complete(promised.call)).toBe(204);
  expect(await stopped).toMatchObject({ code: 0 });
  await world.until(greeting("slow"), (now) => now?.status?.["text"] === "slow");
  await world.until(greeting("promised"), (now) => now?.status?.["text"] === promised.call.token);
  expect(callsFor("too-late")).toEqual([]);
});

it("when an answer is lost, the function is called again with another token and one more failure", async () => {
  const gateway = await startGateway();
  onCall = ({ call, response }) => {
    if (call.fails === 0) response.destroy();
    else answer({ call, response });
  };
  await world.cluster.apply(greeting("lost"));
  await world.until(greeting("lost"), (now) => conditionOf(now)?.status === "True");
  const [first, second] = callsFor("lost").map(({ call }) => call);
  expect(first?.token).not.toBe(second?.token);
  expect(second?.fails).toBe(1);
  await gateway.stop();
});

it("a function that hangs does not delay other functions", async () => {
  const gateway = await startGateway();
  const hangs = ({ call }: Calling): boolean => call.audience.name === "default/hanging";
  onCall = (calling) => {
    if (!hangs(calling)) answer(calling);
  };
  await world.cluster.apply(secretFor("hanging"));
  await world.cluster.apply(declared("hanging"));
  await eventually(() => expect(calls.filter(hangs).length).toBe(2));
  const names = Array.from({ length: 10 }, (_, i) => `beside-${i}`);
  for (const name of names) await world.cluster.apply(greeting(name));
  for (const name of names) await world.until(greeting(name), (now) => conditionOf(now)?.status === "True");
  expect(calls.filter(hangs).length).toBe(2);
  await world.cluster.remove(declared("hanging"));
  await crash(gateway);
});

it("credentials in a completion are written nowhere, whether it is signed or not", async () => {
  const gateway = await startGateway();
  onCall = (calling) => answer(calling, { outcome: "accepted" });
  await world.cluster.apply(greeting("leaking"));
  const { call } = await calledFor("leaking");
  const canary = "CANARY-of-a-completion";
  const send = async (body: string, by: string, headers = {}): Promise<number> => {
    const all = { ...signMessage([by], { id: canary, at: Date.now() }, body), ...headers };
    return (await fetch(at(gateway, call), { method: "POST", headers: all, body })).status;
  };
  const { audience, key, token } = call;
  const completion = (more: object): string => JSON.stringify({ audience, key, token, ...more });
  const failed = { outcome: "failed", message: `completed and failed: redis://me:${canary}@host` };
  const stranger = `whsec_${randomBytes(32).toString("base64")}`;
  expect(await send(completion({ result: failed }), stranger, { authorization: canary })).toBe(401);
  expect(await send(`{"password": ${canary}`, secret)).toBe(400);
  expect(await send(completion({ result: { outcome: canary } }), secret)).toBe(400);
  expect(await send(completion({ token: canary, result: failed }), secret)).toBe(409);
  expect(await send(completion({ result: failed }), secret)).toBe(204);
  const object = await world.until(greeting("leaking"), (now) =>
    /completed and failed/.test(conditionOf(now)?.message ?? ""),
  );
  const events = await world.cluster.read("/apis/events.k8s.io/v1/namespaces/default/events");
  await eventually(async () => {
    const all = await written(world, gateway, object, events);
    expect(all.includes("completed and failed")).toBe(true);
    expect(readFileSync(gateway.logFile, "utf8")).toMatch(/not signed|no secret fits/);
    expect(all.includes(canary)).toBe(false);
  });
  await gateway.stop();
});

it("no secret is in Redis, in a log, in a metric or in the status of an object", async () => {
  const gateway = await startGateway();
  onCall = answer;
  await world.cluster.apply(greeting("last"));
  const object = await world.until(greeting("last"), (now) => conditionOf(now)?.status === "True");
  const all = await written(world, gateway, object);
  expect(all.includes('drover_gateway_calls_total{function="default/greetings",outcome="done"}')).toBe(true);
  expect(all.includes("Taking completions")).toBe(true);
  for (const form of formsOf(secret)) expect(all.includes(form)).toBe(false);
});
