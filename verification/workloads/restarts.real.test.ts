import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type OurFunctions, type Part, start } from "./our-functions.ts";
import { butBoth } from "./subjects.ts";

const open: { stop(): Promise<void> }[] = [];
let client: KubeClient;
let ours: OurFunctions;
beforeAll(async () => {
  const cluster = await startClusterWithFakeNodes({
    controllers: butBoth,
  });
  open.push(cluster);
  client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
  open.unshift({ stop: () => client.close() });
  ours = await start(cluster);
  open.unshift(ours);
}, 3_600_000);
afterAll(async () => {
  for (const one of open) await one.stop();
});

const replicas = 12;
const key = objectKey({ namespace: "default", name: "web" });
const metadata = { namespace: "default", name: "web" };
const template = (image: string) => ({
  metadata: { labels: { app: "web" }, annotations: { "fake-node/delay": "200ms" } },
  spec: { containers: [{ name: "web", image }] },
});

async function untilAvailable(generation: number): Promise<void> {
  await vi.waitFor(
    async () =>
      expect((await client.get(builtin.deployment, key))?.["status"]).toMatchObject({
        observedGeneration: generation,
        replicas,
        updatedReplicas: replicas,
        availableReplicas: replicas,
      }),
    { timeout: 100_000, interval: 100 },
  );
}

/** Every pod that ever was, from the API server itself. */
async function watchPods(seen: Map<string, KubeObject>, signal: AbortSignal): Promise<void> {
  const { resourceVersion } = await client.list(builtin.pod, { namespace: "default" });
  const frames = client.watch(builtin.pod, { namespace: "default", resourceVersion, signal });
  for await (const together of frames)
    for (const frame of together)
      if (frame.type === "ADDED") seen.set(frame.object.metadata.uid, frame.object);
}

it(
  "every Pod is created once, whichever process is killed during a rollout",
  { timeout: 300_000 },
  async () => {
    const ending = new AbortController();
    const seen = new Map<string, KubeObject>();
    const watching = watchPods(seen, ending.signal).catch(() => undefined);
    await client.create(builtin.deployment, {
      metadata,
      spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template("web:1") },
    });
    await untilAvailable(1);
    await vi.waitFor(() => expect(seen.size).toBe(replicas));

    await client.patch(builtin.deployment, key, {
      type: "merge",
      body: { spec: { template: template("web:2") } },
    });
    const order: readonly Part[] = [
      "replicaset",
      "deployment",
      "bridge",
      "replicaset",
      "bridge",
      "deployment",
    ];
    for (const part of order) await ours.restart(part);
    await untilAvailable(2);
    expect(seen.size).toBe(2 * replicas);
    const sets = await listAll(client, builtin.replicaSet, { namespace: "default" });
    const byRevision = sets.map(({ metadata: { annotations }, spec }) => [
      annotations?.["deployment.kubernetes.io/revision"],
      spec,
    ]);
    expect(Object.fromEntries(byRevision)).toMatchObject({ 1: { replicas: 0 }, 2: { replicas } });
    ending.abort();
    await watching;
  },
);
