import {
  customResourceDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { LeaseLostError, RunTimeoutError, StoppingError, type Verdict } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { reconcileOnce } from "./reconcile-once.ts";

const Widget = defineResource({
  ...{ group: "tests.drover.dev", version: "v1", kind: "Widget", scope: "Namespaced" },
  ...{ spec: z.object({ size: z.number() }), status: z.object({}) },
});
const ref = refOf(Widget);
const finalizers = ["drover.dev/widgets.tests.drover.dev"];
let sandbox: Sandbox;
let client: KubeClient;
const writes: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({});
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await installCrd(client, { ...customResourceDefinition(Widget) });
  sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path}`);
    return undefined;
  });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
});

/** A run of an object that is being deleted. `finalize` succeeds, and does not look at its signal. */
async function run(name: string, duringFinalize: (stop: AbortController) => void) {
  const stop = new AbortController();
  const announced: string[] = [];
  const controller = defineController({
    for: Widget,
    reconcile: () => Promise.resolve(undefined),
    finalize: () => {
      duringFinalize(stop);
      return Promise.resolve();
    },
  });
  writes.splice(0);
  const verdict: Verdict = await reconcileOnce(
    { controller, client, log: silentLog, announce: (_, { reason }) => void announced.push(reason) },
    {
      ...{ key: objectKey({ namespace: "default", name }), token: "t" },
      claim: { fails: 0, reasons: [], class: "change", versions: {} },
      ...{ signal: stop.signal, held: () => true },
    },
  );
  return { kind: verdict.kind, announced };
}

it.each([
  ["timed-out", new RunTimeoutError("time is up"), "retry"],
  ["stopping", new StoppingError("the process stops"), "interrupted"],
  ["taken-over", new LeaseLostError("the lease was taken over"), "interrupted"],
])(
  "a finalizer stays when finalize succeeds in a run that was told to stop: %s",
  async (name, reason, kind) => {
    const key = objectKey({ namespace: "default", name });
    await client.create(ref, { metadata: { name, namespace: "default", finalizers }, spec: { size: 1 } });
    await client.delete(ref, key);

    const stopped = await run(name, (stop) => stop.abort(reason));
    expect(stopped.kind).toBe(kind);
    expect(stopped.announced).not.toContain("Finalized");
    expect((await client.get(ref, key))?.metadata.finalizers).toEqual(finalizers);
    // It was not even tried: the only write says why, in the status of a run that failed.
    expect(writes.filter((one) => !one.endsWith("/status"))).toEqual([]);

    let again = false;
    expect((await run(name, () => (again = true))).kind).toBe("done");
    expect(again).toBe(true);
    expect(await client.get(ref, key)).toBeUndefined();
  },
);
