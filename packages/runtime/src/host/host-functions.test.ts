import {
  type Controller,
  type ControllerDefinition,
  defineController,
  objectKey,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { builtin, refOf } from "@drover/kube";
import { openWorkQueue, type WorkQueue } from "@drover/queue";
import pino from "pino";
import { afterEach, expect, it, vi } from "vitest";
import { crdOf } from "../../../testing/src/crd-of.fixture.ts";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import type { ReadinessCheck } from "../http/process-server.ts";
import { type FunctionSettings, functionSettings } from "../process/function-settings.ts";
import { openRegistry } from "../process/process-metrics.ts";
import type { Process } from "../process/run-process.ts";
import { readSettings } from "../process/settings.ts";
import { Widget, widgetsOfFile } from "../run/widgets.fixture.ts";
import { type HostedFunction, hostFunctions } from "./host-functions.ts";

const { client, create } = await widgetsOfFile();
const { server, redis } = await redisOfFile();
const settings = readSettings(functionSettings, { DROVER_REDIS_URL: server.url });
let serial = 0;
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A process, as `runProcess` opens it, that is stopped at the end of a test. */
function processForTest() {
  const stop = new AbortController();
  const closings: (() => Promise<void>)[] = [];
  const checks = new Map<string, ReadinessCheck>();
  const process: Process<FunctionSettings> = {
    redis,
    client,
    log: pino({ level: "silent" }),
    registry: openRegistry(),
    settings,
    stopping: stop.signal,
    readiness: (name, check) => void checks.set(name, check),
    closing: (_name, close) => void closings.push(close),
    addEndpoint: () => undefined,
    fail: (error) => expect.unreachable(error.message),
  };
  const stopped = async (): Promise<void> => {
    stop.abort();
    for (const close of closings.splice(0).reverse()) await close();
  };
  opened.push(stopped);
  return { process, stopped, readinessOf: async (name: string) => checks.get(name)?.() };
}

const controllerOf = (name: string, definition: Partial<ControllerDefinition<typeof Widget>> = {}) =>
  defineController({ name, for: Widget, reconcile: () => Promise.resolve(undefined), ...definition });
const hosted = (
  { name, ...controller }: Controller<typeof Widget>,
  more: Partial<FunctionSettings> = {},
): HostedFunction<FunctionSettings, typeof Widget> => ({
  name,
  settings: { ...settings, ...more },
  controller: () => ({ controller: { name, ...controller } }),
});
function queueNamed(queue: ReturnType<typeof queueOf>): WorkQueue {
  const one = openWorkQueue({ redis, controller: queue, log: silentLog });
  opened.push(() => one.close());
  return one;
}
/** Creates a widget and wakes its key. */
async function due(queue: WorkQueue) {
  const { metadata } = await create(`h-${++serial}`);
  const key = objectKey({ namespace: "default", name: metadata.name });
  const { resourceVersion } = metadata;
  await queue.wake([
    { key, kind: "widgets.tests.drover.dev", resourceVersion, reason: "Added", class: "change" },
  ]);
  return key;
}
const nameIn = () => `c${++serial}`;

it("each function runs the keys of its own queue, with its own concurrency", async () => {
  const [one, other] = [nameIn(), nameIn()];
  const ran: string[] = [];
  const held = Promise.withResolvers<undefined>();
  const counting = (name: string) => controllerOf(name, { reconcile: () => (ran.push(name), held.promise) });
  const { process } = processForTest();
  hostFunctions(process, [
    hosted(counting(one), { concurrency: 1 }),
    hosted(counting(other), { concurrency: 2 }),
  ]);
  const [ofOne, ofOther] = [queueNamed(queueOf({ name: one })), queueNamed(queueOf({ name: other }))];
  for (let i = 0; i < 3; i++) await Promise.all([due(ofOne), due(ofOther)]);
  await expect.poll(() => ran.toSorted()).toEqual([one, other, other].toSorted());
  expect((await ofOne.stats(1_000)).running).toBe(1);
  expect((await ofOther.stats(1_000)).running).toBe(2);
  held.resolve(undefined);
  await expect.poll(() => ran.length).toBe(6);
});

it("a function that cannot start is started again, and the others run meanwhile", async () => {
  const [broken, sound] = [nameIn(), nameIn()];
  const ran: string[] = [];
  const running = (name: string) =>
    controllerOf(name, { reconcile: () => (ran.push(name), Promise.resolve(undefined)) });
  let isMended = false;
  const { process, readinessOf } = processForTest();
  const opening: HostedFunction = {
    ...hosted(running(broken)),
    controller: () => {
      if (!isMended) throw new Error("its account has no password");
      return { controller: running(broken) };
    },
  };
  hostFunctions(process, [opening, hosted(running(sound))], 20);
  await due(queueNamed(queueOf({ name: broken })));
  await due(queueNamed(queueOf({ name: sound })));
  await expect.poll(() => ran).toEqual([sound]);
  expect(await readinessOf(broken)).toContain("its account has no password");
  expect(await readinessOf(sound)).toBeUndefined();
  isMended = true;
  await expect.poll(() => ran).toEqual([sound, broken]);
  expect(await readinessOf(broken)).toBeUndefined();
});

it("a function that fails while it runs is closed and started again", async () => {
  const name = nameIn();
  const closed: number[] = [];
  const failing: ((error: Error) => void)[] = [];
  const opening = Promise.withResolvers<undefined>();
  const { process, readinessOf } = processForTest();
  // A test that failed must end, too.
  opened.push(() => {
    opening.resolve(undefined);
    return Promise.resolve();
  });
  const one: HostedFunction = {
    ...hosted(controllerOf(name)),
    controller: async (_settings, { fail, closing }) => {
      const life = failing.push(fail);
      if (life === 2) await opening.promise;
      closing("something", () => (closed.push(life), Promise.resolve()));
      return { controller: controllerOf(name) };
    },
  };
  hostFunctions(process, [one], 20);
  await expect.poll(() => readinessOf(name)).toBeUndefined();
  failing[0]!(new Error("its object is gone"));
  await expect.poll(() => failing.length).toBe(2);
  expect(closed).toEqual([1]);
  expect(await readinessOf(name)).toBe("is still starting");
  opening.resolve(undefined);
  await expect.poll(() => readinessOf(name)).toBeUndefined();
});

it("metrics tell functions apart, and need no second process", async () => {
  const [one, other] = [nameIn(), nameIn()];
  const { process } = processForTest();
  const fails = () => Promise.reject(new Error("no"));
  hostFunctions(process, [hosted(controllerOf(one)), hosted(controllerOf(other, { reconcile: fails }))]);
  await due(queueNamed(queueOf({ name: one })));
  await due(queueNamed(queueOf({ name: other })));
  const metrics = () => process.registry.metrics();
  await expect.poll(metrics).toContain(`drover_runs_total{controller="${one}",verdict="done"} 1`);
  await expect.poll(metrics).toContain(`drover_runs_total{controller="${other}",verdict="retry"} 1`);
  await expect.poll(metrics).toContain(`drover_queue_keys{controller="${one}",state="failing"} 0`);
  expect(await metrics()).toContain(`drover_queue_keys{controller="${other}",state="failing"} 1`);
});

it("all functions end their runs at the same time when the process stops, and take no more keys", async () => {
  const names = [nameIn(), nameIn()];
  const story: string[] = [];
  const ends = names.map(() => Promise.withResolvers<undefined>());
  const controllers = names.map((name, i) =>
    controllerOf(name, {
      reconcile: async ({ signal }) => {
        story.push(`${name} begins`);
        await ends[i]!.promise;
        story.push(`${name} ${signal.aborted ? "was aborted" : "ends"}`);
        return undefined;
      },
    }),
  );
  const { process, stopped } = processForTest();
  hostFunctions(
    process,
    controllers.map((one) => hosted(one, { concurrency: 1 })),
  );
  const queues = names.map((name) => queueNamed(queueOf({ name })));
  await Promise.all(queues.map(due));
  await expect.poll(() => story.length).toBe(2);
  const ending = stopped();
  const late = await Promise.all(queues.map(due));
  // The first to be drained waits for the other in vain, if they are not drained together.
  ends[1]!.resolve(undefined);
  await expect.poll(() => story).toContain(`${names[1]} ends`);
  ends[0]!.resolve(undefined);
  await ending;
  expect(story.slice(2)).toEqual([`${names[1]} ends`, `${names[0]} ends`]);
  for (const [i, key] of late.entries())
    expect(await queues[i]!.inspect(key)).toMatchObject({ key: { fails: 0, reasons: ["Added"] } });
});

it("a function whose ReconcileFunction is absent or deleted waits for the next one, and the others run", async () => {
  await client.create(
    builtin.crd,
    crdOf({
      group: "drover.dev",
      kind: "ReconcileFunction",
      version: "v1alpha1",
      openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    }),
  );
  const functions = refOf(ReconcileFunction);
  const [registered, other] = [nameIn(), nameIn()];
  const ran: string[] = [];
  const running = (name: string) =>
    controllerOf(name, { reconcile: () => (ran.push(name), Promise.resolve(undefined)) });
  const { process, readinessOf } = processForTest();
  const fn = { namespace: "default", name: registered, uid: undefined };
  const as = vi.spyOn(client, "as");
  hostFunctions(process, [hosted(running(registered), { function: fn }), hosted(running(other))], 20);
  await due(queueNamed(queueOf({ name: other })));
  await expect.poll(() => ran).toEqual([other]);
  await expect
    .poll(() => readinessOf(registered))
    .toContain(`there is no ReconcileFunction default/${registered}`);
  const declare = () =>
    client.create(functions, { metadata: { name: registered, namespace: "default" }, spec: {} });
  const uids: string[] = [];
  for (const life of [1, 2]) {
    const { metadata } = await declare();
    uids.push(metadata.uid);
    await due(queueNamed(queueOf({ ...fn, uid: metadata.uid })));
    await expect.poll(() => ran.filter((name) => name === registered).length, { timeout: 20_000 }).toBe(life);
    await client.delete(functions, objectKey(fn));
    await expect
      .poll(() => readinessOf(registered), { timeout: 20_000 })
      .toContain("there is no ReconcileFunction");
  }
  expect(new Set(uids).size).toBe(2);
  expect(as.mock.calls).toEqual([[fn]]);
}, 60_000);
