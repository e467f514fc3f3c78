import { objectKey, queueOf, silentLog } from "@drover/controller";
import { builtin, type KubeClient, kindOf, refOf } from "@drover/kube";
import { openWorkQueue, type RunOutcome, type WorkQueue } from "@drover/queue";
import { openRegistry } from "@drover/runtime";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { redisOfFile } from "../../../packages/queue/src/redis/redis.fixture.ts";
import { sandboxOfFile } from "../../../packages/testing/src/sandbox.fixture.ts";
import {
  answering,
  Greeting,
  greetings,
  reply,
  secret,
  startTestFunction,
  type TestFunction,
} from "../../../packages/calls/src/calling.fixture.ts";
import { pendingRuns } from "@drover/calls";
import { callMetrics } from "./gateway-metrics.ts";
import { parseNetworks } from "./targets/addresses.ts";
import { parseAllowed } from "./targets/allowed-urls.ts";
import type { WebhookFunction } from "@drover/calls";
import { type FunctionWorker, workFunction } from "./work-function.ts";

const ref = refOf(Greeting);

const { client } = await sandboxOfFile({ kinds: [Greeting], namespaces: ["web"] });
const { redis } = await redisOfFile();
let fn: TestFunction;
let queue: WorkQueue;
let worker: FunctionWorker | undefined;
/** How runs have ended. */
let outcomes: RunOutcome[];
let serial = 0;

beforeAll(async () => {
  await client.create(builtin.secret, {
    metadata: { name: "greetings-webhook", namespace: "web" },
    data: { current: Buffer.from(secret).toString("base64") },
  });
});
beforeEach(async () => {
  [fn, outcomes, worker] = [await startTestFunction(), [], undefined];
});
afterEach(async () => {
  await worker?.stop(0);
  await queue.close();
  await fn.close();
});

/** Works off the keys of a function that is called at the test's own. */
function work(more: Partial<WebhookFunction> = {}, by: KubeClient = client): FunctionWorker {
  const url = `http://127.0.0.1:${fn.port}`;
  const uid = `f-${++serial}`;
  const own = queueOf({ namespace: "web", name: "greetings", uid });
  const of: WebhookFunction = { ...greetings, ...more, uid, queue: own, url };
  queue = openWorkQueue({ redis, controller: of.queue, log: silentLog });
  worker = workFunction(of, {
    client: by,
    log: silentLog,
    pending: pendingRuns(),
    complete: undefined,
    times: {},
    redisFor: () => ({ redis, gone: new AbortController().signal }),
    calls: callMetrics(openRegistry()),
    rules: {
      client: by,
      allowed: parseAllowed([url]),
      networks: parseNetworks(["127.0.0.0/8"]),
      unselected: false,
    },
    runs: { settled: (_queue, _run, outcome) => void outcomes.push(outcome) },
  });
  return worker;
}

/** A new object, whose key is due; its name. */
async function due(metadata: object = {}): Promise<string> {
  const name = `g-${++serial}`;
  const { metadata: made } = await client.create(ref, {
    metadata: { name, namespace: "web", ...metadata },
    spec: { name },
  });
  await wake(name, made.resourceVersion);
  return name;
}
const keyOf = (name: string) => objectKey({ namespace: "web", name });
const wake = (name: string, resourceVersion: string): Promise<void> =>
  queue.wake([
    { key: keyOf(name), kind: "greetings.example.com", resourceVersion, reason: "Added", class: "change" },
  ]);

const settled = (runs: number) => expect.poll(() => outcomes.length).toBe(runs);

it("a call that is under way when its function stops is answered, and not made again", async () => {
  const [called, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  fn.answer = (call, response) => {
    called.resolve(undefined);
    void answered.promise.then(() => reply(call, response, { outcome: "done", status: { text: "hello" } }));
  };
  const working = work();
  const name = await due();
  await called.promise;
  const stopped = working.stop(30_000);
  answered.resolve(undefined);
  await stopped;
  expect(outcomes).toMatchObject([{ kind: "done" }]);
  expect(fn.calls).toHaveLength(1);
  expect(await client.get(ref, keyOf(name))).toMatchObject({ status: { text: "hello" } });
});

it("a function that stops has closed its queue", async () => {
  const stopped = work();
  await stopped.stop(0);
  await expect(stopped.queue.force([keyOf("g")])).rejects.toThrow("was closed");
});

it.each<[string, object, Partial<RunOutcome>]>([
  ["done", { outcome: "done" }, { kind: "done" }],
  [
    "done, and soon again: after a second at least",
    { outcome: "done", requeueAfter: "1ms" },
    { kind: "done", after: 1_000 },
  ],
  ["done, and later again", { outcome: "done", requeueAfter: "7s" }, { kind: "done", after: 7_000 }],
  ["done by an account", { outcome: "done", account: "a" }, { kind: "done", account: "a" }],
  ["a wait", { outcome: "again", after: "9s" }, { kind: "wait", after: 9_000 }],
  ["parked", { outcome: "parked", message: "no" }, { kind: "terminal" }],
])("a run comes to what its function answers: %s", async (_what, body, expected) => {
  fn.answer = answering(body);
  work();
  await due();
  await settled(1);
  expect(outcomes).toMatchObject([expected]);
});

it("calls one after another go over one connection", async () => {
  const ports: (number | undefined)[] = [];
  fn.answer = (call, response) => {
    ports.push(response.socket?.remotePort);
    reply(call, response);
  };
  work({ concurrency: 1 });
  await due();
  await settled(1);
  await due();
  await settled(2);
  expect(ports).toEqual([ports[0], ports[0]]);
  expect(ports[0]).toBeGreaterThan(0);
});

it("a call has the deadline of its run", async () => {
  const from = Date.now();
  work({ runSettings: { ...greetings.runSettings, timeout: "5m" } });
  await due();
  await settled(1);
  const until = Date.parse(fn.calls[0]?.call.deadline ?? "") - 300_000;
  expect(until).toBeGreaterThanOrEqual(from);
  expect(until).toBeLessThanOrEqual(Date.now());
});

it("a run whose time is up counts as failed, though its function has not answered", async () => {
  fn.answer = () => undefined;
  work({ runSettings: { ...greetings.runSettings, timeout: "200ms" } });
  await due();
  await settled(1);
  expect(outcomes).toMatchObject([{ kind: "retry" }]);
});

it("a function's run settings hold for its queue", async () => {
  const runSettings = {
    ...greetings.runSettings,
    retry: { first: "3s", longest: "30s", attempts: 4 },
    limits: { runs: { perSecond: 2, burst: 5 } },
  };
  const { queue: own } = work({ runSettings, concurrency: 11, revision: 7 }).fn;
  const read = async (part: string) => redis.hgetall(`{drover:${own}}:${part}`);
  await expect
    .poll(() => read("control"))
    .toMatchObject({ first: "3000", longest: "30000", attempts: "4", slots: "11", newest: "7" });
  expect(await read("limits")).toMatchObject({ "controller every": "500", "controller burst": "5" });
});

it("as many calls are under way at once as the function takes", async () => {
  const [all, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  fn.answer = (call, response) => {
    if (fn.calls.length === 12) all.resolve(undefined);
    void answered.promise.then(() => reply(call, response));
  };
  work({ concurrency: 12 });
  for (let i = 0; i < 12; i++) await due();
  await all.promise;
  answered.resolve(undefined);
  await settled(12);
});

it("a function that finalizes is called before its object goes", async () => {
  fn.answer = (call, response) =>
    reply(call, response, { outcome: call.type === "dev.drover.finalize.v2" ? "finalized" : "done" });
  const finalizers = ["drover.dev/greetings"];
  work();
  const name = await due();
  await settled(1);
  expect((await client.get(ref, keyOf(name)))?.metadata.finalizers).toEqual(finalizers);
  await client.delete(ref, keyOf(name));
  await wake(name, "1000000");
  await settled(2);
  expect(fn.calls.map(({ call: { type } }) => type)).toEqual([
    "dev.drover.reconcile.v2",
    "dev.drover.finalize.v2",
  ]);
  expect(await client.get(ref, keyOf(name))).toBeUndefined();
});

it("an object has no finalizer where its function does not finalize", async () => {
  work({ finalizes: false });
  const name = await due();
  await settled(1);
  expect((await client.get(ref, keyOf(name)))?.metadata.finalizers).toBeUndefined();
});

it("all that is read and written for a function is so as its ServiceAccount", async () => {
  const accounts: unknown[] = [];
  const nothing = () => Promise.reject(new Error("not by the gateway's own rights"));
  work(
    {},
    {
      ...client,
      get: (of, key, options) => (of.plural === "secrets" ? client.get(of, key, options) : nothing()),
      patch: nothing,
      replace: nothing,
      as: (account) => (accounts.push(account), client),
    },
  );
  await due();
  await settled(1);
  expect(accounts).toEqual([{ namespace: "web", name: "greetings" }]);
  expect(outcomes).toMatchObject([{ kind: "done" }]);
});

describe("a function that declares children", () => {
  const owns = [builtin.configMap, builtin.secret].map((kind) => ({ kind: kindOf(kind) }));
  const composes = { composes: true, finalizes: false, owns };
  const page = (name: string, text: string) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data: { text },
  });
  const answersWith = (...children: readonly object[]) =>
    void (fn.answer = answering({ outcome: "composed", status: { text: "composed" }, children }));
  const readyOf = async (name: string): Promise<unknown> => {
    const status = (await client.get(ref, keyOf(name)))?.["status"] as { conditions: readonly object[] };
    return status.conditions[0];
  };
  const pageOf = (name: string) => client.get(builtin.configMap, keyOf(name));
  const again = async (name: string, runs: number) => {
    const { metadata } = await client.patch(ref, keyOf(name), {
      type: "merge",
      body: { metadata: { annotations: { run: String(runs) } } },
    });
    await wake(name, metadata.resourceVersion);
    await settled(runs);
  };

  it("gets those that it answers with, and those that exist with its next call, but no Secret's content", async () => {
    work(composes);
    const secretChild = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "words" },
      stringData: { word: "hush" },
    };
    answersWith(page("one", "1"), { object: page("two", "2"), wave: 1 }, secretChild);
    const name = await due();
    await settled(1);
    const { call: first } = fn.calls[0] ?? expect.fail();
    expect(first).toMatchObject({ type: "dev.drover.compose.v2", key: `web/${name}`, children: [] });
    const one = await pageOf("one");
    expect(one).toMatchObject({
      data: { text: "1" },
      metadata: { ownerReferences: [{ name, controller: true }] },
    });
    expect(await pageOf("two")).toMatchObject({ data: { text: "2" } });
    expect(await client.get(ref, keyOf(name))).toMatchObject({
      status: { text: "composed", conditions: [{ type: "Ready", message: "All 3 children are ready." }] },
    });
    answersWith(page("two", "2"));
    await again(name, 2);
    const { children = [] } = fn.calls[1]?.call ?? expect.fail();
    expect(children.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      "ConfigMap one",
      "ConfigMap two",
      "Secret words",
    ]);
    expect(children.find(({ metadata }) => metadata.name === "one")).toMatchObject({ data: { text: "1" } });
    const sent = JSON.stringify(fn.calls[1]?.call);
    expect(sent).not.toContain(Buffer.from("hush").toString("base64"));
    expect(sent).not.toContain("managedFields");
    expect(await pageOf("one")).toBeUndefined();
    expect(await client.get(builtin.secret, keyOf("words"))).toBeUndefined();
  });

  it("gets related objects with each call, of Secrets also the content, and reads them as its own account", async () => {
    const related = [
      {
        kind: kindOf(builtin.secret),
        names: { referencedBy: "spec.name" },
        related: true,
      },
    ] as const;
    work({ ...composes, related });
    answersWith();
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" };
    const metadata = { name: `g-${serial + 1}`, namespace: "web", annotations };
    await client.create(builtin.secret, { metadata, stringData: { word: "hush" } });
    await due();
    await settled(1);
    const { related: sent = [] } = fn.calls[0]?.call ?? expect.fail();
    expect(sent).toMatchObject([
      { apiVersion: "v1", kind: "Secret", data: { word: Buffer.from("hush").toString("base64") } },
    ]);
    expect(sent[0]?.metadata).toMatchObject({ annotations: { kept: "yes" } });
    expect(JSON.stringify(sent)).not.toMatch(/managedFields|last-applied/);
  });

  const child = (more: object) => ({ outcome: "composed", children: [{ ...page("a", ""), ...more }] });
  it.each<[string, object, string, RegExp]>([
    [
      "done, which could delete all children",
      { outcome: "done" },
      "BadAnswer",
      /done does not answer dev.drover.compose.v2/,
    ],
    ["no list of children", { outcome: "composed" }, "BadAnswer", /children: .*expected array/],
    ["a child without a name", child({ metadata: {} }), "BadAnswer", /children.0.metadata.name: /],
    [
      "a child with an owner",
      child({ metadata: { name: "a", ownerReferences: [] } }),
      "BadAnswer",
      /"ownerReferences"/,
    ],
    [
      "a kind that it does not own",
      child({ kind: "Pod" }),
      "InvalidResult",
      /kind v1 Pod, which the controller does not own/,
    ],
    [
      "another namespace",
      child({ metadata: { name: "a", namespace: "default" } }),
      "InvalidResult",
      /is in the namespace default/,
    ],
  ])("%s is refused, and its children stay", async (_, body, reason, message) => {
    work(composes);
    answersWith(page("kept", "1"));
    const name = await due();
    await settled(1);
    fn.answer = answering(body);
    await again(name, 2);
    expect(outcomes[1]).toMatchObject({ kind: "retry" });
    expect(await readyOf(name)).toMatchObject({ reason, message: expect.stringMatching(message) as string });
    expect(await pageOf("kept")).toMatchObject({ data: { text: "1" } });
  });

  it("composed does not answer a call of a function that does not declare children", async () => {
    work({ ...composes, composes: false, owns: [] });
    answersWith(page("never", "1"));
    const name = await due();
    await settled(1);
    expect(await pageOf("never")).toBeUndefined();
    expect(await readyOf(name)).toMatchObject({ reason: "BadAnswer" });
  });

  it("reports status and conditions, and runs again after a second at least", async () => {
    const condition = { type: "Warm", status: "True", reason: "Sunny", message: "" };
    const more = { status: { text: "hi" }, conditions: [condition], requeueAfter: "1ms" };
    fn.answer = answering({ outcome: "composed", children: [], ...more });
    work(composes);
    const name = await due();
    // A second run may have ended by now.
    await expect.poll(() => outcomes[0]).toMatchObject({ kind: "done", after: 1_000 });
    expect(await client.get(ref, keyOf(name))).toMatchObject({
      status: { text: "hi", conditions: [{ type: "Ready", status: "True" }, condition] },
    });
  });

  it("elsewhere are deleted before their parent is gone, also if the function finalizes nothing", async () => {
    work({ ...composes, owns: owns.map((owned) => ({ ...owned, acrossNamespaces: true })) });
    const { metadata, ...rest } = page("far", "1");
    answersWith({ ...rest, metadata: { ...metadata, namespace: "default" } });
    const name = await due();
    await settled(1);
    const far = objectKey({ namespace: "default", name: "far" });
    expect(await client.get(builtin.configMap, far)).toMatchObject({ data: { text: "1" } });
    await client.delete(ref, keyOf(name));
    await wake(name, "1000000");
    await settled(2);
    expect(await client.get(ref, keyOf(name))).toBeUndefined();
    expect(await client.get(builtin.configMap, far)).toBeUndefined();
    expect(fn.calls.map(({ call: { type } }) => type)).toEqual(["dev.drover.compose.v2"]);
  });

  it("finalizes, and leaves those behind that outlive their parent", async () => {
    work({ ...composes, finalizes: true });
    fn.answer = (call, response) =>
      reply(
        call,
        response,
        call.type === "dev.drover.finalize.v2"
          ? { outcome: "finalized" }
          : { outcome: "composed", children: [{ object: page("left", "1"), deletion: "Orphan" }] },
      );
    const name = await due();
    await settled(1);
    await client.delete(ref, keyOf(name));
    await wake(name, "1000000");
    await settled(2);
    expect(fn.calls.map(({ call: { type } }) => type)).toEqual([
      "dev.drover.compose.v2",
      "dev.drover.finalize.v2",
    ]);
    expect(await client.get(ref, keyOf(name))).toBeUndefined();
    expect((await pageOf("left"))?.metadata.ownerReferences ?? []).toEqual([]);
  });
});

it("a function is not called for an object of a session of drover dev, and the gateway acknowledges the session", async () => {
  work();
  const name = await due({ labels: { "drover.dev/dev": "ada-1" } });
  await settled(1);
  expect(outcomes).toMatchObject([{ kind: "paused" }]);
  expect(fn.calls).toEqual([]);
  expect(await client.get(ref, keyOf(name))).toMatchObject({
    status: {
      conditions: [{ type: "UnderDevelopment", message: expect.stringContaining("ada-1") as string }],
    },
  });
});
