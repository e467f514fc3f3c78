import { LeaseLostError, RunTimeoutError, StoppingError } from "@drover/queue";
import { expect, it } from "vitest";
import {
  reconcileWidget,
  runOf,
  widgetFinalizers as finalizers,
  widgetsOfFile,
  widgets as ref,
} from "./widgets.fixture.ts";

const { client, writes, create } = await widgetsOfFile();

/** A run of an object that is being deleted. `finalize` succeeds, and does not look at its signal. */
async function run(name: string, duringFinalize: (stop: AbortController) => void) {
  const stop = new AbortController();
  const announced: string[] = [];
  const finalize = () => {
    duringFinalize(stop);
    return Promise.resolve();
  };
  writes.splice(0);
  const outcome = await reconcileWidget(
    client,
    { finalize },
    runOf(name, { signal: stop.signal }),
    (_, { reason }) => void announced.push(reason),
  );
  return { kind: outcome.kind, announced };
}

it.each([
  ["timed-out", new RunTimeoutError("time is up"), "retry"],
  ["stopping", new StoppingError("the process stops"), "interrupted"],
  ["taken-over", new LeaseLostError("the lease was taken over"), "interrupted"],
])("a finalizer stays if finalize succeeds in an aborted run: %s", async (name, reason, kind) => {
  const { key } = runOf(name);
  await create(name, { finalizers });
  await client.delete(ref, key);

  const stopped = await run(name, (stop) => stop.abort(reason));
  expect(stopped.kind).toBe(kind);
  expect(stopped.announced).not.toContain("Finalized");
  expect((await client.get(ref, key))?.metadata.finalizers).toEqual(finalizers);
  // The removal was not tried: the only write is the status of the failed run.
  expect(writes.filter((one) => !one.endsWith("/status"))).toEqual([]);

  let again = false;
  expect((await run(name, () => (again = true))).kind).toBe("done");
  expect(again).toBe(true);
  expect(await client.get(ref, key)).toBeUndefined();
});
