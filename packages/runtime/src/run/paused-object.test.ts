import { defineController, silentLog } from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import type { RunOutcome } from "@drover/queue";
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

const called: string[] = [];
const controller = defineController({
  for: Widget,
  copies: true,
  reconcile: () => Promise.resolve(void called.push("reconcile")),
  finalize: () => Promise.resolve(void called.push("finalize")),
});
const annotations = { "drover.dev/paused": "true" };

/** Runs the object, optionally with a cached object in the claim. Returns the outcome, and what the run did. */
async function run(
  name: string,
  copy?: KubeObject,
): Promise<{ outcome: RunOutcome; called: string[]; writes: string[] }> {
  const { client, writes } = sandbox;
  writes.splice(0);
  called.splice(0);
  const versions = copy === undefined ? {} : { "widgets.tests.drover.dev": copy.metadata.resourceVersion };
  const outcome = await reconcileOnce(
    { controller, client, log: silentLog, announce: () => void called.push("announce") },
    runOf(name, {
      claim: {
        fails: 0,
        reasons: [],
        class: "change",
        versions,
        ...(copy && { cachedObject: JSON.stringify(copy), uid: copy.metadata.uid }),
      },
    }),
  );
  return { outcome, called: [...called], writes: [...writes] };
}
const create = (name: string, metadata: object, spec: unknown = { size: 1 }): Promise<KubeObject> =>
  sandbox.client.create(ref, { metadata: { name, namespace: "default", ...metadata }, spec });
const nothing = { called: [], writes: [] };

it("does nothing, and writes nothing, where its object is paused, and says of which version that is", async () => {
  const { metadata } = await create("new", { annotations });
  const { uid, resourceVersion } = metadata;
  expect(await run("new")).toEqual({
    outcome: { kind: "paused", observed: { kind: "widgets.tests.drover.dev", uid, resourceVersion } },
    ...nothing,
  });
});

it("does not finalize a paused object that is deleted, before it is resumed", async () => {
  await create("deleted", { annotations, finalizers });
  const { client } = sandbox;
  const { key } = runOf("deleted");
  await client.delete(ref, key);
  expect(await run("deleted")).toMatchObject({ outcome: { kind: "paused" }, ...nothing });
  await client.patch(ref, key, { type: "merge", body: { metadata: { annotations: null } } });
  expect((await run("deleted")).called).toContain("finalize");
  expect(await client.get(ref, key)).toBeUndefined();
});

it("accepts a cached object that is paused, as it does for everything else", async () => {
  expect(await run("copied", await create("copied", { annotations, finalizers }))).toMatchObject({
    outcome: { kind: "paused" },
    ...nothing,
  });
});

it("runs where the annotation has any other value", async () => {
  await create("free", { annotations: { "drover.dev/paused": "yes" }, finalizers });
  expect(await run("free")).toMatchObject({ outcome: { kind: "done" }, called: ["reconcile"] });
});
