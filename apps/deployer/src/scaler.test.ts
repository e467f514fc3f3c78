import { customResourceDefinition, queueOf, ReconcileFunction, silentLog } from "@drover/controller";
import { connect, installCrd, refOf } from "@drover/kube";
import { startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FunctionQueues } from "./function-queues.ts";
import { startScaler } from "./scaler.ts";

it("looks at the queues of functions that were deployed, and has no other looked at", async () => {
  const folder = mkdtempSync(join(tmpdir(), "drover-scaler-"));
  const sandbox = await startSandbox({});
  writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig(), { mode: 0o600 });
  const client = await connect({ kubeconfig: join(folder, "kubeconfig"), userAgent: "test", log: silentLog });
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
  const looked: string[] = [];
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
  const stopping = new AbortController();
  const woken = Promise.withResolvers<string>();
  const scaler = startScaler({
    ...{ client, queues: queues as FunctionQueues, own: queueOf({ name: "none" }), every: 1, log: silentLog },
    wake(key) {
      woken.resolve(key);
      return Promise.resolve();
    },
    signal: stopping.signal,
  });
  expect(await woken.promise).toBe("default/deployed");
  await expect.poll(() => looked.length).toBeGreaterThan(20);
  expect(new Set(looked)).toEqual(new Set(["deployed"]));
  stopping.abort();
  await scaler.done;
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});
