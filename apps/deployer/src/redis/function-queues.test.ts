import { namesQueueOf, objectKey, queueOf, silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, openWorkQueue } from "@drover/queue";
import { expect, it } from "vitest";
import { redisOfFile } from "../../../../packages/queue/src/redis/redis.fixture.ts";
import { cupSpec } from "../testing/cups.ts";
import { openFunctionQueues, queuesOf } from "./function-queues.ts";

const spec = cupSpec();
const functions = { name: "functions" };
const gadgets = { namespace: "a", name: "gadgets", uid: "u" };
const { server, redis } = await redisOfFile();
const opened = (redisFor = () => ({ redis, gone: new AbortController().signal })) =>
  openFunctionQueues({
    redisFor,
    ownQueue: queueOf(functions),
    log: silentLog,
    onIncarnation: () => {},
  });
/** A change of an object of that name. */
const change = (name: string) =>
  ({
    key: objectKey({ namespace: "a", name }),
    kind: "gadgets",
    resourceVersion: "1",
    reason: "Added",
    class: "change",
  }) as const;

it("the deployer does not count the run that asks: it would ask for ever", async () => {
  const queues = opened();
  const loads = Promise.withResolvers<readonly number[]>();
  for (const identity of [functions, gadgets])
    await queues.open(queueOf(identity)).wake([change(identity.name)]);
  const handler = async () => {
    const all = await Promise.all([functions, gadgets].map((identity) => queues.load(identity, spec)));
    loads.resolve(all.flatMap(({ due, running }) => [due, running]));
    return { kind: "done" } as const;
  };
  const own = openWorkQueue({ redis, controller: queueOf(functions), log: silentLog, upkeep: "own" });
  const worker = own.work(handler, {
    concurrency: 1,
    timeout: 60_000,
    version: 1,
    backoff: { first: 20, longest: 50 },
  });
  expect(await loads.promise).toEqual([0, 0, 1, 0]);
  await worker.drain(1_000);
  await own.close();
  await queues.close();
});

it("the deployer's own queue never has fewer than no runs", async () => {
  const queues = opened();
  expect(await queues.load(functions, spec)).toMatchObject({ running: 0 });
  await queues.close();
});

it("a queue is not used any more once its Redis is given up", async () => {
  let gone = new AbortController();
  const queues = opened(() => ({ redis, gone: gone.signal }));
  const first = queues.open(queueOf(gadgets));
  expect(queues.open(queueOf(gadgets))).toBe(first);
  gone.abort();
  gone = new AbortController();
  const second = queues.open(queueOf(gadgets));
  expect(second).not.toBe(first);
  expect(queues.open(queueOf(gadgets))).toBe(second);
  await queues.close();
});

const pods = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" };
const asking = cupSpec({
  watches: [
    { ...pods, names: { code: true } },
    { ...pods, plural: "services", kind: "Service", names: { label: "a" } },
  ],
});
const saucers = { namespace: "a", name: "saucers", uid: "u" };
const [ownQueue, namesQueue] = [queueOf(saucers), namesQueueOf(queueOf(saucers), pods)];

it("a function works on its own queue and on those of kinds that its code is asked about, and on no other", () => {
  expect(queuesOf(saucers, asking)).toEqual([ownQueue, namesQueue]);
  expect(queuesOf(saucers, spec)).toEqual([ownQueue]);
});

it("what a function is to do is all that is due in its queue and in those of what its code is asked about", async () => {
  const queues = opened();
  await queues.open(ownQueue).wake([change("a")]);
  await queues.open(namesQueue).wake([change("b"), change("c")]);
  expect(await queues.load(saucers, asking)).toMatchObject({
    due: 3,
    running: 0,
    paused: 0,
    allPaused: false,
  });
  expect(await queues.load(saucers, spec)).toMatchObject({ due: 1 });
  await queues.open(namesQueue).pause({ kind: "controller" }, "test");
  expect(await queues.load(saucers, asking)).toMatchObject({ due: 1, paused: 2, allPaused: false });
  await queues.open(ownQueue).pause({ kind: "controller" }, "test");
  expect(await queues.load(saucers, asking)).toMatchObject({ due: 0, paused: 3, allPaused: true });
  await queues.close();
});

it("queues stay open for as long as their function is there, and the deployer's own always", async () => {
  const queues = opened();
  const names = [queueOf(functions), queueOf(gadgets), ownQueue, namesQueue];
  const first = names.map((name) => queues.open(name));
  const isKept = () => names.map((name, i) => queues.open(name) === first[i]);
  queues.closeAllExcept([
    { identity: saucers, spec: asking },
    { identity: gadgets, spec },
  ]);
  expect(isKept()).toEqual([true, true, true, true]);
  queues.closeAllExcept([{ identity: saucers, spec: asking }]);
  expect(isKept()).toEqual([true, false, true, true]);
  await queues.closeQueuesOf(saucers, asking);
  expect(isKept()).toEqual([true, false, false, false]);
  await queues.close();
});

it("a queue that was opened in another Redis stays when the one before is given up", async () => {
  const other = await connectRedis({ url: server.url, clientName: "other", log: silentLog });
  const gone = new AbortController();
  let where = { redis, gone: gone.signal };
  const queues = opened(() => where);
  const first = queues.open(queueOf(gadgets));
  where = { redis: other, gone: new AbortController().signal };
  const second = queues.open(queueOf(gadgets));
  expect(second).not.toBe(first);
  gone.abort();
  expect(queues.open(queueOf(gadgets))).toBe(second);
  await queues.close();
  await first.close();
  await disconnectRedis(other);
});
