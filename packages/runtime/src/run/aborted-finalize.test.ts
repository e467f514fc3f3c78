import { defineController, silentLog } from "@drover/controller";
import { LeaseLostError, RunTimeoutError, StoppingError, type RunOutcome } from "@drover/queue";
import { afterAll, beforeAll, expect, it } from "vitest";
import { reconcileOnce } from "./reconcile-once.ts";
import {
  openWidgets,
  runOf,
  Widget,
  widgetFinalizers as finalizers,
  type WidgetSandbox,
  widgets as ref,
} from "./widgets.fixture.ts";

let sandbox: WidgetSandbox;
beforeAll(async () => (sandbox = await openWidgets()));
afterAll(() => sandbox.close());

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
  const { client, writes } = sandbox;
  writes.splice(0);
  const announce = (_: unknown, { reason }: { readonly reason: string }): void => void announced.push(reason);
  const outcome: RunOutcome = await reconcileOnce(
    { controller, client, log: silentLog, announce },
    runOf(name, { signal: stop.signal }),
  );
  return { kind: outcome.kind, announced };
}

it.each([
  ["timed-out", new RunTimeoutError("time is up"), "retry"],
  ["stopping", new StoppingError("the process stops"), "interrupted"],
  ["taken-over", new LeaseLostError("the lease was taken over"), "interrupted"],
])(
  "a finalizer stays when finalize succeeds in a run that was told to stop: %s",
  async (name, reason, kind) => {
    const { client, writes } = sandbox;
    const { key } = runOf(name);
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
