import type { Announcement } from "@drover/controller";
import { LeaseLostError, type Run, RunTimeoutError, StoppingError } from "@drover/queue";
import { beforeEach, describe, expect, it } from "vitest";
import {
  reconcileWidget,
  runOf,
  type WidgetDefinition,
  widgetFinalizers as own,
  widgetsOfFile,
  widgets as ref,
} from "./widgets.fixture.ts";

const { client, writes, create: createWidget } = await widgetsOfFile();
let name: string;
let serial = 0;
/** The calls of the controller, in order. */
let acts: string[];
beforeEach(() => void ([acts, name] = [[], `w${serial++}`]));

async function run(
  definition: WidgetDefinition,
  more: Partial<Run> = {},
  options?: Parameters<typeof reconcileWidget>[3],
) {
  writes.splice(0);
  const calls = {
    reconcile: () => (acts.push("reconcile"), Promise.resolve(undefined)),
    finalize: () => (acts.push("finalize"), Promise.resolve()),
  };
  return reconcileWidget(client, { ...calls, ...definition }, runOf(name, more), options);
}
const create = (finalizers: readonly string[] = []) => createWidget(name, { finalizers });
const deleting = async (...finalizers: readonly string[]): Promise<void> => {
  await create(finalizers);
  await client.delete(ref, runOf(name).key);
};
const read = () => client.get(ref, runOf(name).key);

describe("an object that is being deleted, and has other finalizers", () => {
  const other = "other.dev/keep";
  const held = (...finalizers: readonly string[]) => deleting(other, ...finalizers);
  const conditions = [{ type: "Ready", status: "False", reason: "Going", message: "" }] as const;
  const whileDeleting = () => (acts.push("whileDeleting"), Promise.resolve({ conditions }));

  it("gets a status of `whileDeleting`, and is neither reconciled nor given a finalizer", async () => {
    await held();
    expect(await run({ whileDeleting })).toMatchObject({ kind: "done" });
    expect(acts).toEqual(["whileDeleting"]);
    const { metadata, ...object } = (await read()) ?? expect.fail("The object is gone.");
    expect(metadata.finalizers).toEqual([other]);
    expect(object["status"]).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining(conditions[0])]) as unknown,
    });
  });

  it("is not written by a controller without `whileDeleting`", async () => {
    await held();
    expect(await run({})).toMatchObject({ kind: "done" });
    expect(acts).toEqual([]);
    expect(writes).toEqual([]);
  });

  it("is finalized first", async () => {
    await held(...own);
    await run({ whileDeleting });
    await run({ whileDeleting });
    expect(acts).toEqual(["finalize", "whileDeleting"]);
  });
});

it("the finalizer is added only to objects for which `needsFinalizer` is true", async () => {
  await create();
  const needs = (least: number): WidgetDefinition => ({ needsFinalizer: ({ spec }) => spec.size >= least });
  await run(needs(2));
  expect((await read())?.metadata.finalizers).toBeUndefined();
  await run(needs(1));
  expect((await read())?.metadata.finalizers).toEqual(own);
});

it.each([
  ["timed out", new RunTimeoutError("time is up"), "retry"],
  ["stopping", new StoppingError("the process stops"), "interrupted"],
  ["taken over", new LeaseLostError("the lease was taken over"), "interrupted"],
])("a finalizer stays if finalize succeeds in an aborted run: %s", async (_what, reason, kind) => {
  await deleting(...own);
  const stop = new AbortController();
  const announced: string[] = [];
  const finalize = () => {
    stop.abort(reason);
    return Promise.resolve();
  };
  const announce = (_: unknown, { reason }: Announcement) => void announced.push(reason);
  const stopped = await run({ finalize }, { signal: stop.signal }, { announce });
  expect(stopped.kind).toBe(kind);
  expect(announced).not.toContain("Finalized");
  expect((await read())?.metadata.finalizers).toEqual(own);
  // The removal was not tried: the only write is the status of the failed run.
  expect(writes.filter((one) => !one.endsWith("/status"))).toEqual([]);

  expect(await run({})).toMatchObject({ kind: "done" });
  expect(acts).toEqual(["finalize"]);
  expect(await read()).toBeUndefined();
});
