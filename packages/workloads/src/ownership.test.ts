import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient } from "@drover/kube";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claim, type Owner } from "./ownership.ts";

let sandbox: Sandbox;
let client: KubeClient;
beforeEach(async () => {
  sandbox = await startSandbox({ controllers: false });
  client = await connect({ server: sandbox.url, token: sandbox.token, userAgent: "test" });
});
afterEach(async () => {
  await client.close();
  await sandbox.close();
});

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const web = objectKey({ namespace: "default", name: "web" });
const replicaSet = () =>
  client.create(builtin.replicaSet, {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
const ownerOf = ({ metadata }: Awaited<ReturnType<typeof replicaSet>>): Owner => ({
  ...{ ref: builtin.replicaSet, metadata, selector: { matchLabels: labels } },
});
const orphan = () =>
  client.create(builtin.pod, {
    metadata: { name: "orphan", namespace: "default", labels },
    spec: template.spec,
  });
const claimed = async (owner: Owner) => {
  const { signal } = new AbortController();
  const pods = [(await client.get(builtin.pod, objectKey({ namespace: "default", name: "orphan" })))!];
  return claim({ client, owner, kind: builtin.pod, signal }, pods);
};

it("an orphan is adopted by an owner that is there", async () => {
  const owner = ownerOf(await replicaSet());
  await orphan();
  const [adopted] = await claimed(owner);
  expect(adopted?.metadata.ownerReferences).toMatchObject([{ uid: owner.metadata.uid, controller: true }]);
});

it.each([
  ["is gone", () => Promise.resolve()],
  ["was replaced by another of its name", replicaSet],
])("no orphan is adopted for an owner that %s since it was read", async (_what, next) => {
  const owner = ownerOf(await replicaSet());
  await client.delete(builtin.replicaSet, web);
  await next();
  const pod = await orphan();
  expect(await claimed(owner)).toEqual([]);
  expect(await client.get(builtin.pod, objectKey({ namespace: "default", name: "orphan" }))).toEqual(pod);
});
