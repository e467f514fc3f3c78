import { customResourceDefinition, defineResource, objectKey, silentLog } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type RedisServer, startRedis } from "@drover/local-servers";
import {
  connectRedis,
  disconnectRedis,
  openWorkQueue,
  type RedisConnection,
  type Verdict,
  type WorkQueue,
} from "@drover/queue";
import { openRegistry } from "@drover/runtime";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { greetings, reply, secret, startTestFunction, type TestFunction } from "./calls/calling.fixture.ts";
import { pendingRuns } from "./completions/pending-runs.ts";
import { callMetrics } from "./gateway-metrics.ts";
import { parseNetworks } from "./targets/addresses.ts";
import { parseAllowed } from "./targets/allowed-urls.ts";
import type { WebhookFunction } from "./webhook-function.ts";
import { type FunctionWorker, workFunction } from "./work-function.ts";

const Greeting = defineResource({
  ...{ group: "example.com", version: "v1", kind: "Greeting", scope: "Namespaced" },
  ...{ spec: z.object({ name: z.string() }), status: z.object({ text: z.string().optional() }) },
});
const ref = refOf(Greeting);

let sandbox: Sandbox;
let client: KubeClient;
let server: RedisServer;
let redis: RedisConnection;
let fn: TestFunction;
let queue: WorkQueue;
let worker: FunctionWorker | undefined;
/** How runs have ended. */
let verdicts: Verdict["kind"][];
let serial = 0;

beforeAll(async () => {
  sandbox = await startSandbox({});
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(Greeting) });
  await client.create(builtin.namespace, { metadata: { name: "web" } });
  await client.create(builtin.secret, {
    metadata: { name: "greetings-webhook", namespace: "web" },
    data: { current: Buffer.from(secret).toString("base64") },
  });
  server = await startRedis({ persistence: false });
  redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog, loadsScripts: true });
});
afterAll(async () => {
  await disconnectRedis(redis);
  await client.close();
  await Promise.all([sandbox.close(), server.stop()]);
});
beforeEach(async () => {
  [fn, verdicts, worker] = [await startTestFunction(), [], undefined];
});
afterEach(async () => {
  await worker?.stop(0);
  await queue.close();
  await fn.close();
});

/** Works off the keys of a function that is called at the test's own. */
function work(more: Partial<WebhookFunction> = {}): FunctionWorker {
  const url = `http://127.0.0.1:${fn.port}`;
  const of: WebhookFunction = { ...greetings, ...more, for: Greeting, url };
  queue = openWorkQueue({ redis, controller: of.queue, log: silentLog });
  worker = workFunction(of, {
    ...{ client, log: silentLog, pending: pendingRuns(), complete: undefined, times: {} },
    redisFor: () => ({ redis, gone: new AbortController().signal }),
    calls: callMetrics(openRegistry()),
    rules: {
      ...{ client, allowed: parseAllowed([url]), networks: parseNetworks(["127.0.0.0/8"]) },
      unselected: false,
    },
    runs: { settled: (_queue, _run, { kind }) => void verdicts.push(kind) },
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
  expect(verdicts).toEqual(["done"]);
  expect(fn.calls).toHaveLength(1);
  expect(await client.get(ref, keyOf(name))).toMatchObject({ status: { text: "hello" } });
});
