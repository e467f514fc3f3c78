import { customResourceDefinition, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { FunctionQueues } from "./function-queues.ts";
import { type ScalerOptions, startScaler } from "./scaler.ts";

let sandbox: Sandbox;
let client: KubeClient;
let stopping: AbortController;
/** Functions whose queues were looked at. */
let looked: string[];
beforeEach(async () => {
  [looked, stopping] = [[], new AbortController()];
  sandbox = await startSandbox({});
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
  const ref = refOf(ReconcileFunction);
  const kind = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" };
  for (const [name, status] of [
    ["refused", {}],
    ["deployed", { scaling: { wanted: 0 } }],
  ] as const) {
    const metadata = { name, namespace: "default" };
    const made = await client.create(ref, { metadata, spec: { for: kind, container: { image: "i" } } });
    await client.replace(ref, { ...made, status }, { subresource: "status" });
  }
});
afterEach(async () => {
  await client.close();
  await sandbox.close();
});

const queues: Pick<FunctionQueues, "keep" | "load"> = {
  keep: () => undefined,
  load({ name }) {
    looked.push(name);
    return Promise.resolve({
      ...{ due: 1, oldestDue: 0, running: 0, scheduled: 0, parked: 0, failing: 0 },
      ...{ runTime: 0, paused: 0, allPaused: false },
    });
  },
};
const start = (options: Pick<ScalerOptions, "wake"> & Partial<ScalerOptions>) =>
  startScaler({
    ...{ client, queues: queues as FunctionQueues, own: queueOf({ name: "none" }), every: 1, log: silentLog },
    ...{ signal: stopping.signal, ...options },
  });

it("looks at the queues of functions that were deployed, and has no other looked at", async () => {
  const woken = Promise.withResolvers<string>();
  const scaler = start({
    wake(key) {
      woken.resolve(key);
      return Promise.resolve();
    },
  });
  expect(await woken.promise).toBe("default/deployed");
  await expect.poll(() => looked.length).toBeGreaterThan(20);
  expect(new Set(looked)).toEqual(new Set(["deployed"]));
  stopping.abort();
  await scaler.done;
});

it("a function that could not be woken is named, keeps no other from being woken, and is woken the next time", async () => {
  const [woken, warnings]: [string[], unknown[]] = [[], []];
  let refuses = true;
  const scaler = start({
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
    .toEqual([
      ["Could not have a function looked at", { function: "default/refused", err: new Error("closed") }],
    ]);
  expect(woken).toEqual(["default/deployed"]);
  refuses = false;
  scaler.wakeAll(() => true);
  expect(woken.slice(1).sort()).toEqual(["default/deployed", "default/refused"]);
  stopping.abort();
  await scaler.done;
});
