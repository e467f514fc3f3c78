import { customResourceDefinition, objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { askedOf } from "@drover/runtime";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { followFunctions } from "./registered-functions.ts";
import type { Registration } from "./registration.ts";

let sandbox: Sandbox;
let client: KubeClient;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox({});
  folder = mkdtempSync(join(tmpdir(), "drover-permitted-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
  client = await connect({ kubeconfig, userAgent: "test", log: silentLog });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const ref = refOf(ReconcileFunction);
const kind = (plural: string) => ({
  ...{ group: "example.com", version: "v1", kind: "Cup", plural, scope: "Namespaced" },
});
const cups = { namespace: "default", name: "cups" };
const change = (body: object, subresource?: "status") =>
  client.patch(ref, objectKey(cups), { type: "merge", body }, { ...(subresource && { subresource }) });
const permit = async (): Promise<void> => {
  const { metadata, spec } = (await client.get(ref, objectKey(cups))) ?? expect.fail("it is there");
  const permitted = askedOf(metadata, ReconcileFunction.spec.parse(spec));
  await change({ status: { permitted } }, "status");
};

it("what nobody has permitted is not followed, and what was is followed until the next is", async () => {
  const stopping = new AbortController();
  const told: (readonly Registration[])[] = [];
  const functions = followFunctions({
    ...{ client, log: silentLog, signal: stopping.signal, authors: "checked" },
    onChange: (registrations) => told.push(registrations),
  });
  const followed = () =>
    functions.all().map(({ registration }) => registration?.follows.map(({ ref: { plural } }) => plural));
  const becomes = (...kinds: readonly (string[] | undefined)[]) =>
    vi.waitFor(() => expect(followed()).toEqual(kinds), { timeout: 20_000 });

  await client.create(ref, { metadata: cups, spec: { for: kind("cups") } });
  await becomes(undefined);
  await permit();
  await becomes(["cups"]);
  // It is not told of more, nor of less, until that is permitted.
  await change({ spec: { for: kind("saucers") } });
  await change({ metadata: { labels: { seen: "yes" } } });
  await expect.poll(() => functions.all()[0]?.object.metadata.labels).toEqual({ seen: "yes" });
  expect(followed()).toEqual([["cups"]]);
  await permit();
  await becomes(["saucers"]);
  await client.delete(ref, objectKey(cups));
  await becomes();
  expect(told.map((registrations) => registrations.length)).toEqual([0, 1, 1, 0]);
  stopping.abort();
  await functions.reflector.done;
});
