import {
  type ControllerDefinition,
  defineController,
  type FunctionIdentity,
  namesQueueOf,
  objectKey,
  queueOf,
  RetryError,
  silentLog,
} from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { type KeyReport, openWorkQueue, type WorkQueue } from "@drover/queue";
import pino from "pino";
import { afterEach, expect, it } from "vitest";
import { functionSettings } from "../process/function-settings.ts";
import { openRegistry } from "../process/process-metrics.ts";
import type { ReadinessCheck } from "../http/process-server.ts";
import { serveController } from "./run-function.ts";
import { readSettings } from "../process/settings.ts";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { Widget, widgetsOfFile } from "../run/widgets.fixture.ts";

const { client, create } = await widgetsOfFile();
const { server, redis } = await redisOfFile();
let serial = 0;
/** The closings of a part, and its readiness checks. */
const closings: (() => Promise<void>)[] = [];
let checks: Map<string, ReadinessCheck>;

const close = async (): Promise<void> => {
  for (const closing of closings.splice(0).reverse()) await closing();
};
afterEach(close);

interface Served {
  readonly settings?: Readonly<Record<string, string>>;
  readonly identity?: FunctionIdentity;
  readonly closed?: () => void;
  readonly answersWithoutRedis?: boolean;
}

/** Serves a controller as a part of a process. Returns another connection of its queue. */
function serve(
  definition: Partial<ControllerDefinition<typeof Widget>>,
  {
    settings = {},
    identity = { namespace: "web", name: "w", uid: `f-${++serial}` },
    closed,
    answersWithoutRedis = false,
  }: Served = {},
): { readonly queue: WorkQueue; readonly served: readonly WorkQueue[]; readonly identity: FunctionIdentity } {
  checks = new Map();
  const controller = defineController({
    for: Widget,
    reconcile: () => Promise.resolve(undefined),
    ...definition,
  });
  const served = serveController(
    { controller, answersWithoutRedis, ...(closed && { close: closed }) },
    {
      redis,
      client,
      log: pino({ level: "silent" }),
      registry: openRegistry(),
      settings: readSettings(functionSettings, { DROVER_REDIS_URL: server.url, ...settings }),
      stopping: new AbortController().signal,
      readiness: (name, check) => void checks.set(name, check),
      closing: (_name, close) => void closings.push(close),
      addEndpoint: () => undefined,
      fail: (error) => expect.unreachable(error.message),
    },
    identity,
  );
  return { queue: queueNamed(queueOf(identity)), served, identity };
}
function queueNamed(controller: ReturnType<typeof queueOf>): WorkQueue {
  const queue = openWorkQueue({ redis, controller, log: silentLog });
  closings.unshift(() => queue.close());
  return queue;
}

/** Creates a widget, and wakes its key in a queue. @returns the key. */
async function due(queue: WorkQueue, kind = "widgets.tests.drover.dev") {
  const name = `w-${++serial}`;
  const { metadata } = await create(name);
  const key = objectKey({ namespace: "default", name });
  const { resourceVersion } = metadata;
  await queue.wake([{ key, kind, resourceVersion, reason: "Added", class: "change" }]);
  return key;
}
const report = async (queue: WorkQueue, key: KeyReport["key"]): Promise<KeyReport> =>
  (await queue.inspect(key)).key;
const fails = () => Promise.reject(new RetryError("no"));

it("a run in progress ends when its process stops, before the resources of its controller are closed", async () => {
  const story: string[] = [];
  const [begun, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const { queue } = serve(
    {
      reconcile: async ({ signal, readSecret }) => {
        begun.resolve(undefined);
        await ended.promise;
        for (let reads = 0; reads < 5; reads++) await readSecret("none");
        story.push(signal.aborted ? "the run was aborted" : "the run ended");
        return undefined;
      },
    },
    { closed: () => void story.push("closed") },
  );
  await due(queue);
  await begun.promise;
  const closed = close();
  ended.resolve(undefined);
  await closed;
  expect(story).toEqual(["the run ended", "closed"]);
});

it("a failing key is parked after the attempts of the settings, and waits for their backoff before", async () => {
  const { queue } = serve({ reconcile: fails }, { settings: { DROVER_RETRY_ATTEMPTS: "1" } });
  const key = await due(queue);
  await expect.poll(() => report(queue, key)).toMatchObject({ state: "parked", fails: 1 });
  const later = serve(
    { reconcile: fails },
    { settings: { DROVER_RETRY_FIRST: "50m", DROVER_RETRY_LONGEST: "60m" } },
  );
  const waiting = await due(later.queue);
  await expect.poll(() => report(later.queue, waiting)).toMatchObject({ state: "waits", fails: 1 });
  const left = (await report(later.queue, waiting)).at - Date.now();
  expect(left).toBeGreaterThan(20 * 60_000);
});

it("the settings override the concurrency", async () => {
  const both = Promise.withResolvers<undefined>();
  let underWay = 0;
  const { queue } = serve(
    {
      concurrency: 1,
      reconcile: () => {
        if (++underWay === 2) both.resolve(undefined);
        return both.promise;
      },
    },
    { settings: { DROVER_CONCURRENCY: "2" } },
  );
  await Promise.all([due(queue), due(queue)]);
  await both.promise;
});

it("a run is aborted after its timeout", async () => {
  const { queue } = serve(
    {
      reconcile: ({ signal }) =>
        new Promise((_, reject) => (signal.onabort = () => reject(new Error("late")))),
    },
    { settings: { DROVER_TIMEOUT: "20ms" } },
  );
  const key = await due(queue);
  await expect.poll(() => report(queue, key)).toMatchObject({ fails: 1 });
});

it("a resync is aligned to a quarter of the period if the function scales to zero", async () => {
  const { queue } = serve({ resyncEvery: "4h" }, { settings: { DROVER_RESTS: "true" } });
  const [minute, hour] = [60_000, 3_600_000];
  const keys = await Promise.all([due(queue), due(queue), due(queue)]);
  for (const key of keys) {
    await expect.poll(() => report(queue, key)).toMatchObject({ state: "waits" });
    expect(((await report(queue, key)).at + minute) % hour).toBeLessThan(2 * minute);
  }
});

it("a key that a newer version has run is not run by an older one, even if that is idle", async () => {
  const ran: string[] = [];
  const busy = Promise.withResolvers<undefined>();
  const running = (version: string) => ({
    concurrency: 1,
    reconcile: async ({ key }: { readonly key: string }) => {
      if (ran.push(`${version} ${key}`) === 2) await busy.promise;
      return undefined;
    },
  });
  const { queue, identity } = serve(running("2"), { settings: { DROVER_ROLLOUT: "2" } });
  const key = await due(queue);
  await expect.poll(() => ran).toEqual([`2 ${key}`]);
  const held = await due(queue);
  await expect.poll(() => ran).toContain(`2 ${held}`);
  serve(running("1"), { identity, settings: { DROVER_ROLLOUT: "1" } });
  await queue.force([key]);
  const other = await due(queue);
  await expect.poll(() => ran).toContain(`1 ${other}`);
  expect(ran).not.toContain(`1 ${key}`);
  busy.resolve(undefined);
  await expect.poll(() => ran.filter((one) => one === `2 ${key}`)).toHaveLength(2);
});

it("a controller without a ReconcileFunction serves only the queue of its own name", () => {
  const { served } = serve({ name: "mine" }, { identity: { name: "mine" } });
  expect(served.map(({ controller }) => controller)).toEqual([queueOf({ name: "mine" })]);
});

it("mapping an object by code is a job of a separate queue, which is served and checked, too", async () => {
  const kind = kindOf(builtin.configMap);
  const ran: string[] = [];
  const { served, identity } = serve({
    watches: [{ kind, names: () => Promise.resolve([named]) }],
    reconcile: ({ key }) => (ran.push(key), Promise.resolve(undefined)),
  });
  const named = objectKey({ namespace: "default", name: `w-${++serial}` });
  await create(`w-${serial}`);
  const names = namesQueueOf(queueOf(identity), kind);
  expect(served.map(({ controller }) => controller)).toEqual([queueOf(identity), names]);
  expect([...checks.keys()]).toEqual([`redis ${queueOf(identity)}`, `redis ${names}`]);
  const metadata = { name: `c-${++serial}`, namespace: "default" };
  const made = await client.create(builtin.configMap, { metadata });
  await queueNamed(names).wake([
    {
      key: objectKey(metadata),
      kind: "configmaps",
      reason: "Added",
      class: "change",
      resourceVersion: made.metadata.resourceVersion,
    },
  ]);
  await expect.poll(() => ran).toEqual([named]);
});

it("a run that is slow to end in one queue lets no key begin in another once the process stops", async () => {
  const kind = kindOf(builtin.configMap);
  const [begun, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const ran: string[] = [];
  const names = async () => {
    begun.resolve(undefined);
    await ended.promise;
    return [];
  };
  const { queue, identity } = serve({
    watches: [{ kind, names }],
    reconcile: ({ key }) => (ran.push(key), Promise.resolve(undefined)),
  });
  const earlier = await due(queue);
  await expect.poll(() => ran).toEqual([earlier]);
  const metadata = { name: `c-${++serial}`, namespace: "default" };
  await client.create(builtin.configMap, { metadata });
  const wake = { kind: "configmaps", reason: "Added", class: "change", resourceVersion: "1" } as const;
  await queueNamed(namesQueueOf(queueOf(identity), kind)).wake([{ ...wake, key: objectKey(metadata) }]);
  await begun.promise;
  const closed = close();
  const observer = openWorkQueue({ redis, controller: queueOf(identity), log: silentLog });
  const late = await due(observer);
  await expect.poll(() => report(observer, late)).toMatchObject({ state: "dispatched" });
  ended.resolve(undefined);
  await closed;
  expect(await report(observer, late)).toMatchObject({ state: "dispatched" });
  expect(ran).toEqual([earlier]);
  await observer.close();
});

it("mapping by code is not limited by the rate of runs", async () => {
  const kind = kindOf(builtin.configMap);
  const asked: string[] = [];
  const { identity } = serve(
    { watches: [{ kind, names: ({ key }) => (asked.push(key), Promise.resolve([])) }] },
    { settings: { DROVER_RUNS_PER_SECOND: "0.001", DROVER_RUNS_BURST: "1" } },
  );
  const names = queueNamed(namesQueueOf(queueOf(identity), kind));
  for (const name of ["a", "b", "c"]) {
    const key = objectKey({ namespace: "default", name: `${name}-${++serial}` });
    await client.create(builtin.configMap, {
      metadata: { name: `${name}-${serial}`, namespace: "default" },
    });
    await names.wake([{ key, kind: "configmaps", reason: "Added", class: "change", resourceVersion: "1" }]);
  }
  await expect.poll(() => asked.length).toBe(3);
});

it("an announcement of a run is an Event for its object, and its count is written when the process stops", async () => {
  let runs = 0;
  const { queue } = serve({
    name: "announcing",
    reconcile: ({ announce }) => {
      announce({ type: "Normal", reason: "Greeted", action: "Greet", note: "Hello." });
      runs++;
      return Promise.resolve(undefined);
    },
  });
  const key = await due(queue);
  const events = async () => (await client.list(builtin.event)).items;
  const greeted = {
    reason: "Greeted",
    reportingController: "drover.dev/announcing",
    regarding: expect.objectContaining({ kind: "Widget", name: key.split("/")[1] }) as unknown,
  };
  await expect.poll(events).toContainEqual(expect.objectContaining(greeted));
  await queue.force([key]);
  await expect.poll(() => runs).toBe(2);
  await close();
  const series = expect.objectContaining({ count: 2 }) as unknown;
  expect(await events()).toContainEqual(expect.objectContaining({ ...greeted, series }));
});

it("a Redis that is away makes a process unready, unless it answers requests without Redis", async () => {
  const checkOf = (options: Served) => {
    const { identity } = serve({}, options);
    return checks.get(`redis ${queueOf(identity)}`) ?? expect.fail("There is no check.");
  };
  const [check, noting] = [checkOf({}), checkOf({ answersWithoutRedis: true })];
  expect([await check(), await noting()]).toEqual([undefined, undefined]);
  await server.kill();
  await expect(check).rejects.toThrow("Redis did not answer within 1000 ms");
  expect(await noting()).toEqual({ note: "Redis did not answer within 1000 ms." });
  await server.restart();
});
