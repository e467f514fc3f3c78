import type { KubeObject } from "@drover/kube";
import { expect, it } from "vitest";
import {
  reconcileWidget,
  runOf,
  widgetFinalizers as finalizers,
  widgetsOfFile,
  widgets as ref,
} from "./widgets.fixture.ts";

const { client, writes, create } = await widgetsOfFile();

const called: string[] = [];
const definition = {
  copies: true,
  reconcile: () => Promise.resolve(void called.push("reconcile")),
  finalize: () => Promise.resolve(void called.push("finalize")),
};
const annotations = { "drover.dev/paused": "true" };

/** Runs the object, optionally with a cached object in the claim. Returns the outcome, the calls and the writes. */
async function run(name: string, copy?: KubeObject) {
  writes.splice(0);
  called.splice(0);
  const base = runOf(name);
  const cached = copy && {
    versions: { "widgets.tests.drover.dev": copy.metadata.resourceVersion },
    cachedObject: JSON.stringify(copy),
    uid: copy.metadata.uid,
  };
  const own = { ...base, claim: { ...base.claim, ...cached } };
  const announce = () => void called.push("announce");
  const outcome = await reconcileWidget(client, definition, own, { announce });
  return { outcome, called: [...called], writes: [...writes] };
}
const nothing = { called: [], writes: [] };

it("does nothing and writes nothing if its object is paused, and returns the observed version", async () => {
  const { metadata } = await create("new", { annotations });
  const { uid, resourceVersion } = metadata;
  expect(await run("new")).toEqual({
    outcome: { kind: "paused", observed: { kind: "widgets.tests.drover.dev", uid, resourceVersion } },
    ...nothing,
  });
});

it("does not finalize a paused object that is deleted, until it is resumed", async () => {
  await create("deleted", { annotations, finalizers });
  const { key } = runOf("deleted");
  await client.delete(ref, key);
  expect(await run("deleted")).toMatchObject({ outcome: { kind: "paused" }, ...nothing });
  await client.patch(ref, key, { type: "merge", body: { metadata: { annotations: null } } });
  expect((await run("deleted")).called).toContain("finalize");
  expect(await client.get(ref, key)).toBeUndefined();
});

it("accepts a cached object that is paused, like any other", async () => {
  expect(await run("copied", await create("copied", { annotations, finalizers }))).toMatchObject({
    outcome: { kind: "paused" },
    ...nothing,
  });
});

it("runs if the annotation has another value", async () => {
  await create("free", { annotations: { "drover.dev/paused": "yes" }, finalizers });
  expect(await run("free")).toMatchObject({ outcome: { kind: "done" }, called: ["reconcile"] });
});
