import {
  customResourceDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import { connect, installCrd, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import type { Verdict } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { reconcileOnce } from "./reconcile-once.ts";

const Widget = defineResource({
  ...{ group: "tests.drover.dev", version: "v1", kind: "Widget", scope: "Namespaced" },
  ...{ spec: z.object({ size: z.number() }), status: z.object({}) },
});
const ref = refOf(Widget);
let sandbox: Sandbox;
let client: KubeClient;
let folder: string;
const writes: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({});
  folder = mkdtempSync(join(tmpdir(), "drover-runtime-"));
  writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig(), { mode: 0o600 });
  client = await connect({ kubeconfig: join(folder, "kubeconfig") });
  await installCrd(client, { ...customResourceDefinition(Widget) });
  sandbox.faults.respond(({ method, path }) => {
    if (method !== "GET") writes.push(`${method} ${path}`);
    return undefined;
  });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const called: string[] = [];
const controller = defineController({
  for: Widget,
  copies: true,
  reconcile: () => Promise.resolve(void called.push("reconcile")),
  finalize: () => Promise.resolve(void called.push("finalize")),
});
const finalizers = ["drover.dev/widgets.tests.drover.dev"];
const annotations = { "drover.dev/paused": "true" };

/** A run of an object, which may be brought a copy of it; its verdict, and what it did. */
async function run(
  name: string,
  copy?: KubeObject,
): Promise<{ verdict: Verdict; called: string[]; writes: string[] }> {
  writes.splice(0);
  called.splice(0);
  const versions = copy === undefined ? {} : { "widgets.tests.drover.dev": copy.metadata.resourceVersion };
  const verdict = await reconcileOnce(
    { controller, client, log: silentLog, announce: () => void called.push("announce") },
    {
      ...{ key: objectKey({ namespace: "default", name }), token: "t" },
      claim: {
        ...{ fails: 0, reasons: [], class: "change", versions },
        ...(copy && { copy: JSON.stringify(copy), uid: copy.metadata.uid }),
      },
      ...{ signal: new AbortController().signal, held: () => true },
    },
  );
  return { verdict, called: [...called], writes: [...writes] };
}
const create = (name: string, metadata: object, spec: unknown = { size: 1 }): Promise<KubeObject> =>
  client.create(ref, { metadata: { name, namespace: "default", ...metadata }, spec });
const nothing = { called: [], writes: [] };

it("does nothing, and writes nothing, where its object is paused, and says of which version that is", async () => {
  const { metadata } = await create("new", { annotations });
  const { uid, resourceVersion } = metadata;
  expect(await run("new")).toEqual({
    verdict: { kind: "paused", saw: { kind: "widgets.tests.drover.dev", uid, resourceVersion } },
    ...nothing,
  });
});

it("does not finalize a paused object that is deleted, before it is resumed", async () => {
  await create("deleted", { annotations, finalizers });
  const key = objectKey({ namespace: "default", name: "deleted" });
  await client.delete(ref, key);
  expect(await run("deleted")).toMatchObject({ verdict: { kind: "paused" }, ...nothing });
  await client.patch(ref, key, { type: "merge", body: { metadata: { annotations: null } } });
  expect((await run("deleted")).called).toContain("finalize");
  expect(await client.get(ref, key)).toBeUndefined();
});

it("believes a copy that says so, as it does for all else", async () => {
  expect(await run("copied", await create("copied", { annotations, finalizers }))).toMatchObject({
    verdict: { kind: "paused" },
    ...nothing,
  });
});

it("runs where the annotation has any other value", async () => {
  await create("free", { annotations: { "drover.dev/paused": "yes" }, finalizers });
  expect(await run("free")).toMatchObject({ verdict: { kind: "done" }, called: ["reconcile"] });
});
