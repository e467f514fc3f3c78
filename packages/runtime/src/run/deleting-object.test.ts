import { type ControllerDefinition, defineController, silentLog } from "@drover/controller";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { reconcileOnce } from "./reconcile-once.ts";
import {
  openWidgets,
  runOf,
  Widget,
  widgetFinalizers as own,
  type WidgetSandbox,
  widgets as ref,
} from "./widgets.fixture.ts";

let sandbox: WidgetSandbox;
let name: string;
let serial = 0;
/** What was called, in turn. */
let acts: string[];
beforeAll(async () => (sandbox = await openWidgets()));
afterAll(() => sandbox.close());
beforeEach(() => void ([acts, name] = [[], `w${serial++}`]));

type Definition = Partial<ControllerDefinition<typeof Widget>>;
async function run(definition: Definition) {
  const controller = defineController({
    for: Widget,
    reconcile: () => (acts.push("reconcile"), Promise.resolve(undefined)),
    finalize: () => (acts.push("finalize"), Promise.resolve()),
    ...definition,
  });
  const { client } = sandbox;
  sandbox.writes.splice(0);
  return reconcileOnce({ controller, client, log: silentLog, announce: () => undefined }, runOf(name));
}
const create = (finalizers: readonly string[] = []) =>
  sandbox.client.create(ref, { metadata: { name, namespace: "default", finalizers }, spec: { size: 3 } });
const read = () => sandbox.client.get(ref, runOf(name).key);

describe("an object that is being deleted, and that others hold", () => {
  const other = "other.dev/keep";
  const held = async (...finalizers: readonly string[]): Promise<void> => {
    await create([other, ...finalizers]);
    await sandbox.client.delete(ref, runOf(name).key);
  };
  const conditions = [{ type: "Ready", status: "False", reason: "Going", message: "" }] as const;
  const whileDeleting = () => (acts.push("whileDeleting"), Promise.resolve({ conditions }));

  it("is still said of where the controller does so, and neither reconciled nor given a finalizer", async () => {
    await held();
    expect(await run({ whileDeleting })).toMatchObject({ kind: "done" });
    expect(acts).toEqual(["whileDeleting"]);
    const { metadata, ...object } = (await read()) ?? expect.fail("it is there");
    expect(metadata.finalizers).toEqual([other]);
    expect(object["status"]).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining(conditions[0])]) as unknown,
    });
  });

  it("is left alone by a controller that does not", async () => {
    await held();
    expect(await run({})).toMatchObject({ kind: "done" });
    expect(acts).toEqual([]);
    expect(sandbox.writes).toEqual([]);
  });

  it("is finalized before that", async () => {
    await held(...own);
    await run({ whileDeleting });
    await run({ whileDeleting });
    expect(acts).toEqual(["finalize", "whileDeleting"]);
  });
});

it("the finalizer is put on those objects alone that the controller says need it", async () => {
  await create();
  const needs = (least: number): Definition => ({ needsFinalizer: ({ spec }) => spec.size >= least });
  await run(needs(4));
  expect((await read())?.metadata.finalizers).toBeUndefined();
  await run(needs(3));
  expect((await read())?.metadata.finalizers).toEqual(own);
});
