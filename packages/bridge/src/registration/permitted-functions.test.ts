import { customResourceDefinition, objectKey, ReconcileFunction, silentLog } from "@drover/controller";
import { builtin, connect, installCrd, type KubeClient, refOf } from "@drover/kube";
import { permitLabel, permitName, requestedUse } from "@drover/runtime";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { followFunctions } from "./registered-functions.ts";

const own = "drover";
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
  await client.create(builtin.namespace, { metadata: { name: own } });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const ref = refOf(ReconcileFunction);
const kind = (plural: string) => ({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  plural,
  scope: "Namespaced",
});
const cups = { namespace: "default", name: "cups" };
const change = (body: object, subresource?: "status") =>
  client.patch(ref, objectKey(cups), { type: "merge", body }, { ...(subresource && { subresource }) });
/** As the deployer writes it. */
const permit = async (namespace = own): Promise<void> => {
  const { metadata, spec } = (await client.get(ref, objectKey(cups))) ?? expect.fail("it is there");
  const asked = requestedUse(metadata, ReconcileFunction.spec.parse(spec));
  const named = { namespace, name: permitName(metadata.uid) };
  await client.delete(builtin.configMap, objectKey(named));
  const labels = { [permitLabel]: "true" };
  await client.create(builtin.configMap, {
    metadata: { ...named, labels },
    data: { uid: metadata.uid, ...asked },
  });
};
const withdraw = async (): Promise<void> => {
  const { metadata } = (await client.get(ref, objectKey(cups))) ?? expect.fail("it is there");
  await client.delete(builtin.configMap, objectKey({ namespace: own, name: permitName(metadata.uid) }));
};

it("a function is followed as its permit says, and no longer than there is a permit", async () => {
  const stopping = new AbortController();
  const registrations: (readonly number[])[] = [];
  const functions = followFunctions({
    client,
    log: silentLog,
    signal: stopping.signal,
    authors: "checked",
    namespace: own,
    onChange: (all) => registrations.push(all.map(({ follows }) => follows.length)),
  });
  const followed = () =>
    functions.all().map(({ registration }) => registration?.follows.map(({ ref: { plural } }) => plural));
  const becomes = (...kinds: readonly (string[] | undefined)[]) =>
    vi.waitFor(() => expect(followed()).toEqual(kinds), { timeout: 20_000 });
  const marked = async (mark: string): Promise<void> => {
    await change({ metadata: { labels: { mark } } });
    await expect.poll(() => functions.all()[0]?.object.metadata.labels?.["mark"]).toBe(mark);
  };

  await client.create(ref, { metadata: cups, spec: { for: kind("cups") } });
  await becomes(undefined);
  // What another than the deployer can write is no permit: its status, and a ConfigMap elsewhere.
  const { metadata } = (await client.get(ref, objectKey(cups))) ?? expect.fail("it is there");
  const asked = requestedUse(metadata, ReconcileFunction.spec.parse({ for: kind("cups") }));
  await change({ status: { permitted: { asked: "x", ...asked } } }, "status");
  await permit("default");
  await marked("forged");
  expect(followed()).toEqual([undefined]);
  await permit();
  await becomes(["cups"]);
  // While another request is not permitted, it is followed as it was.
  await change({ spec: { for: kind("saucers") } });
  await marked("changed");
  expect(followed()).toEqual([["cups"]]);
  await permit();
  await becomes(["saucers"]);
  await withdraw();
  await becomes(undefined);
  await permit();
  await becomes(["saucers"]);
  // Most changes are no other registration: of a label, of a status.
  const before = registrations.length;
  await marked("last");
  expect(registrations).toHaveLength(before);
  expect(registrations.at(-1)).toEqual([1]);
  await client.delete(ref, objectKey(cups));
  await becomes();
  stopping.abort();
  await functions.reflector.done;
});
