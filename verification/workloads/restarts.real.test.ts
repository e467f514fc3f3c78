import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeObject, listAll } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { afterAll, expect, it, vi } from "vitest";
import type { Part } from "./our-functions.ts";
import { oursOfFile } from "./ours.fixture.ts";
import { butBoth } from "./subjects.ts";

const { cluster, ours } = await oursOfFile(startClusterWithFakeNodes({ controllers: butBoth }));
const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
afterAll(() => client.close());

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
