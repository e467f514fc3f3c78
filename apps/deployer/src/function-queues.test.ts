import { objectKey, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, openWorkQueue, type RedisConnection } from "@drover/queue";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFunctionQueues } from "./function-queues.ts";

const kind = { group: "example.com", version: "v1", kind: "Gadget", plural: "gadgets", scope: "Namespaced" };
const spec = ReconcileFunction.spec.parse({ for: kind });
const functions = { name: "functions" };
const gadgets = { namespace: "a", name: "gadgets", uid: "u" };
let server: RedisServer;
let redis: RedisConnection;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
  redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
});
afterAll(async () => {
  await disconnectRedis(redis);
  await server.stop();
});

it("the deployer does not count the run that asks: it would ask for ever", async () => {
  const queues = openFunctionQueues({
    redisFor: () => ({ redis, gone: new AbortController().signal }),
    own: queueOf(functions),
    log: silentLog,
    onIncarnation: () => {},
  });
  const loads = Promise.withResolvers<readonly number[]>();
  for (const identity of [functions, gadgets]) {
    const { name } = identity;
    await queues.of(queueOf(identity)).wake([
      {
        ...{ key: objectKey({ namespace: "a", name }), kind: name, resourceVersion: "1" },
        ...{ reason: "Added", class: "change" },
      },
    ]);
  }
  const handler = async () => {
    const all = await Promise.all([functions, gadgets].map((identity) => queues.load(identity, spec)));
    loads.resolve(all.flatMap(({ due, running }) => [due, running]));
    return { kind: "done" } as const;
  };
  const own = openWorkQueue({ redis, controller: queueOf(functions), log: silentLog, upkeep: "own" });
  const worker = own.work(handler, {
    ...{ concurrency: 1, timeout: 60_000, version: 1, backoff: { first: 20, longest: 50 } },
  });
  expect(await loads.promise).toEqual([0, 0, 1, 0]);
  await worker.drain(1_000);
  await own.close();
  await queues.close();
});

it("a queue is not used any more once its Redis is given up", async () => {
  let gone = new AbortController();
  const queues = openFunctionQueues({
    redisFor: () => ({ redis, gone: gone.signal }),
    own: queueOf(functions),
    log: silentLog,
    onIncarnation: () => {},
  });
  const first = queues.of(queueOf(gadgets));
  expect(queues.of(queueOf(gadgets))).toBe(first);
  gone.abort();
  gone = new AbortController();
  const second = queues.of(queueOf(gadgets));
  expect(second).not.toBe(first);
  expect(queues.of(queueOf(gadgets))).toBe(second);
  await queues.close();
});
