import {
  customResourceDefinition,
  objectKey,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { FunctionQueues } from "../redis/function-queues.ts";
import { type Scaler, type ScalerOptions, startScaler } from "./scaler.ts";
import { cup, idle } from "../testing/cups.ts";

const ref = refOf(ReconcileFunction);
async function deployed(name: string, more: object = {}, status: object = { scaling: { wanted: 0 } }) {
  const metadata = { name, namespace: "default" };
  const made = await client.create(ref, {
    metadata,
    spec: { for: cup, container: { image: "i" }, ...more },
  });
  return client.replace(ref, { ...made, status }, { subresource: "status" });
}
let sandbox: Sandbox;
let client: KubeClient;
let stopping: AbortController;
let scaler: Scaler;
/** Functions whose queues were looked at, and those that were woken. */
let looked: string[];
let woken: string[];
beforeEach(async () => {
  [looked, woken, stopping] = [[], [], new AbortController()];
  sandbox = await startSandbox({});
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  await deployed("refused", {}, {});
  await deployed("deployed");
});
afterEach(async () => {
  stopping.abort();
  await scaler.done;
  await client.close();
  await sandbox.close();
});

const queues: Pick<FunctionQueues, "closeAllExcept" | "load"> = {
  closeAllExcept: () => undefined,
  load({ name }) {
    looked.push(name);
    return Promise.resolve({ ...idle, due: 1, oldestDue: 7_900 });
  },
};
const start = (options: Partial<ScalerOptions> = {}) =>
  (scaler = startScaler({
    client,
    queues: queues as FunctionQueues,
    ownQueue: queueOf({ name: "none" }),
    every: 1,
    log: silentLog,
    signal: stopping.signal,
    wake: (key) => Promise.resolve(void woken.push(key)),
    ...options,
  }));

const at = (name: string) => objectKey({ namespace: "default", name });

it("an autoscaler gets the number of Pods that are wanted, for a second the same, also for a function that it scales", async () => {
  await deployed("by-keda", { scaling: { by: "KEDA", min: 2, max: 3 } });
  start({ every: 60_000 });
  await expect.poll(() => scaler.synced()).toBe(true);
  await expect
    .poll(() => scaler.figures(at("by-keda")))
    .toEqual({ wanted: 2, due: 1, oldestDueSeconds: 7, running: 0 });
  await Promise.all([1, 2, 3].map(() => scaler.figures(at("by-keda"))));
  expect(looked.filter((name) => name === "by-keda")).toHaveLength(1);
  expect(await scaler.figures(at("nothing"))).toBeUndefined();
});

it("while queues cannot be read, KEDA gets the number of Pods that it has set, and others get the error", async () => {
  await deployed("by-keda", { scaling: { by: "KEDA", max: 5, replicas: 4 } });
  await deployed("by-keda-at-least", { scaling: { by: "KEDA", min: 2, max: 5, replicas: 0 } });
  await deployed("by-keda-paused", { scaling: { by: "KEDA", min: 2, max: 5, replicas: 1 } });
  await deployed("by-keda-at-zero", { scaling: { by: "KEDA", max: 5, replicas: 0 } });
  const warnings: unknown[] = [];
  const gone = new Error("Redis did not answer within 2000 ms.");
  start({
    every: 60_000,
    queues: {
      ...queues,
      load: async () => Promise.reject(gone),
    } as Partial<FunctionQueues> as FunctionQueues,
    log: { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) },
  });
  await expect.poll(() => scaler.synced()).toBe(true);
  expect(await scaler.figures(at("by-keda"))).toEqual({ wanted: 4, held: true });
  expect(warnings).toContainEqual([
    "The number of Pods stays: the queues cannot be read",
    { err: gone, function: "default/by-keda" },
  ]);
  expect(await scaler.figures(at("by-keda-at-least"))).toEqual({ wanted: 2, held: true });
  expect(await scaler.figures(at("by-keda-paused"))).toEqual({ wanted: 1, held: true });
  expect(await scaler.figures(at("by-keda-at-zero"))).toEqual({ wanted: 0, held: true });
  await expect(scaler.figures(at("deployed"))).rejects.toThrow(gone);
});

it("looks at no function that an autoscaler scales, that runs outside of Drover, or that is being deleted", async () => {
  await deployed("by-keda", { scaling: { by: "KEDA" } });
  await deployed("elsewhere", { container: undefined });
  const going = await deployed("going");
  const finalizers = { type: "merge", body: { metadata: { finalizers: ["example.com/hold"] } } } as const;
  await client.patch(ref, at("going"), finalizers);
  await client.delete(ref, at("going"), { uid: going.metadata.uid });
  const kept: string[][] = [];
  start({
    queues: {
      ...queues,
      closeAllExcept: (all) => void kept.push(all.map(({ identity }) => identity.name).sort()),
    } as FunctionQueues,
  });
  await expect.poll(() => looked.length).toBeGreaterThan(20);
  expect(new Set(looked)).toEqual(new Set(["deployed"]));
  expect(await scaler.figures(at("going"))).toBeUndefined();
  // To keep the queue of one that is being deleted open would write to it.
  expect(kept.at(-1)).toEqual(["by-keda", "deployed", "elsewhere", "refused"]);
});

it("wakes a function only for another number of Pods than its status has", async () => {
  const status = { rollout: { revision: 1, template: "t" }, scaling: { wanted: 1 } };
  await deployed("steady", {}, status);
  await deployed("busy", { scaling: { targetDue: 1, max: 9 } }, status);
  start({
    queues: {
      ...queues,
      load: async (identity, spec) => ({
        ...(await queues.load(identity, spec)),
        due: identity.name === "busy" ? 4 : 1,
      }),
    } as FunctionQueues,
  });
  await expect.poll(() => woken).toContain("default/busy");
  await expect.poll(() => looked.filter((name) => name === "steady").length).toBeGreaterThan(20);
  expect(woken).not.toContain("default/steady");
});

it("the deployer's own registration is looked at once when it comes", async () => {
  const { metadata } = await deployed("own");
  start({ every: 60_000, ownQueue: queueOf(metadata) });
  const times = () => woken.filter((key) => key === "default/own").length;
  await expect.poll(times).toBe(1);
  // Another change of it wakes it no more: the bridge does.
  const body = { metadata: { labels: { a: "b" } } };
  await client.patch(ref, at("own"), { type: "merge", body });
  await deployed("another");
  await expect.poll(() => scaler.figures(at("another"))).toBeDefined();
  expect(times()).toBe(1);
});

it("looks at the queues of functions that were deployed, and has no other looked at", async () => {
  start();
  await expect.poll(() => woken[0]).toBe("default/deployed");
  await expect.poll(() => looked.length).toBeGreaterThan(20);
  expect(new Set(looked)).toEqual(new Set(["deployed"]));
});

it("a function that could not be woken is named, keeps no other from being woken, and is woken the next time", async () => {
  const warnings: unknown[] = [];
  let refuses = true;
  start({
    wake: (key) =>
      refuses && key === "default/refused"
        ? Promise.reject(new Error("closed"))
        : Promise.resolve(void woken.push(key)),
    every: 60_000,
    log: { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) },
  });
  await expect.poll(() => scaler.synced()).toBe(true);
  scaler.wakeAll(() => true);
  await expect
    .poll(() => warnings)
    .toEqual([["Could not wake a function", { function: "default/refused", err: new Error("closed") }]]);
  expect(woken).toEqual(["default/deployed"]);
  refuses = false;
  scaler.wakeAll(() => true);
  expect(woken.slice(1).sort()).toEqual(["default/deployed", "default/refused"]);
});
