/**
 * kube-controller-manager and our functions take over from each other: they keep the pods, ReplicaSets, revisions and slices of
 * the other, and recognize the templates that it has rolled out.
 */
import { objectKey } from "@drover/controller";
import { builtin, connect, type KubeObject, listAll, type ResourceRef } from "@drover/kube";
import { startClusterWithFakeNodes } from "@drover/real-cluster";
import { afterAll, expect, it, vi } from "vitest";
import { controllersBeside, families } from "./families.ts";
import { type OurFunctions, startFunctions } from "./our-functions.ts";
import { kinds } from "./sequences/kinds.ts";

const cluster = await startClusterWithFakeNodes({ nodes: 2, controllers: ["*"] });
afterAll(() => cluster.stop());
const client = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "test" });
afterAll(() => client.close());
let ours: OurFunctions | undefined;
afterAll(() => ours?.stop());

const { DaemonSet: daemonSet, ControllerRevision: revision, Job: job } = kinds;

const namespace = "default";
const key = objectKey({ namespace, name: "web" });
const labels = { app: "web" };
const template = (image: string) => ({
  metadata: { labels },
  // Go writes these characters as escapes, and compares the bytes of revisions.
  spec: { containers: [{ name: "main", image, args: ["<&>"] }], terminationGracePeriodSeconds: 0 },
});
const metadata = { name: "web", namespace };
const selector = { matchLabels: labels };
const patch = (kind: ResourceRef, body: object) => client.patch(kind, key, { type: "merge", body });
const read = async (kind: ResourceRef): Promise<KubeObject> => {
  const found = await client.get(kind, key);
  if (found === undefined) throw new Error(`There is no ${kind.kind} web.`);
  return found;
};
const becomes = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 });
const all = (kind: ResourceRef) => listAll(client, kind, { namespace });
const uidsOf = (objects: readonly KubeObject[]) => objects.map(({ metadata: { uid } }) => uid).sort();
const podsOf = async (owner: string) =>
  (await all(builtin.pod)).filter(({ metadata: { ownerReferences } }) =>
    ownerReferences?.some(({ kind }) => kind === owner),
  );

const slices = async () =>
  (await all(builtin.endpointSlice)).filter(({ metadata: { name } }) => name.startsWith("web"));

/** The uids of all objects that the controllers have created, except for the pods of the Job. */
const made = async () => ({
  pods: uidsOf([...(await podsOf("ReplicaSet")), ...(await podsOf("DaemonSet"))]),
  replicaSets: uidsOf(await all(builtin.replicaSet)),
  revisions: uidsOf(await all(revision)),
  slices: uidsOf(await slices()),
});

async function expectObserved(): Promise<void> {
  for (const kind of [builtin.deployment, daemonSet]) {
    const { metadata, status } = await read(kind);
    expect(status).toMatchObject({ observedGeneration: metadata.generation });
  }
}

/** Changes every object so that no pod has to be replaced, and waits until its controller has acted on the change. */
async function lookedAt(turn: number): Promise<void> {
  const jobsPods = uidsOf(await podsOf("Job"));
  await Promise.all([
    patch(builtin.deployment, { spec: { minReadySeconds: turn } }),
    patch(daemonSet, { spec: { minReadySeconds: turn } }),
    patch(job, { spec: { parallelism: 1 + turn } }),
    patch(builtin.service, { metadata: { labels: { turn: String(turn) } } }),
  ]);
  await becomes(async () => {
    await expectObserved();
    const now = uidsOf(await podsOf("Job"));
    expect(now.length).toBe(1 + turn);
    expect(new Set(now).isSupersetOf(new Set(jobsPods)), "the Job's pods go on").toBe(true);
    for (const slice of await slices()) expect(slice.metadata.labels?.["turn"]).toBe(String(turn));
  });
}

async function rolledOut(image: string): Promise<void> {
  for (const kind of [builtin.deployment, daemonSet])
    await patch(kind, { spec: { template: template(image) } });
  await becomes(async () => {
    for (const owner of ["ReplicaSet", "DaemonSet"]) {
      const pods = await podsOf(owner);
      expect(pods.length).toBe(2);
      expect(JSON.stringify(pods.map(({ spec }) => spec))).not.toMatch(image === "img:1" ? /img:2/ : /img:1/);
    }
    await expectObserved();
  });
}

async function toOurs(): Promise<void> {
  await cluster.runControllers(controllersBeside(...families));
  ours = await startFunctions(cluster, families, { inOneProcess: true });
}
async function toTheirs(): Promise<void> {
  await ours?.stop();
  ours = undefined;
  await cluster.runControllers(["*"]);
}

it("each goes on with what the other has made", { timeout: 300_000 }, async () => {
  await client.create(builtin.deployment, {
    metadata,
    spec: { replicas: 2, selector, template: template("img:1") },
  });
  await client.create(daemonSet, { metadata, spec: { selector, template: template("img:1") } });
  await client.create(builtin.service, { metadata, spec: { selector: labels, ports: [{ port: 80 }] } });
  await client.create(job, {
    metadata,
    spec: {
      completionMode: "Indexed",
      completions: 9,
      parallelism: 1,
      template: {
        metadata: { labels: { app: "job" } },
        spec: { ...template("img:1").spec, restartPolicy: "Never" },
      },
    },
  });
  await lookedAt(1);
  await rolledOut("img:1");
  const first = await made();
  expect(first).toMatchObject({ pods: { length: 4 }, replicaSets: { length: 1 }, revisions: { length: 1 } });

  await toOurs();
  await lookedAt(2);
  expect(await made()).toEqual(first);
  await rolledOut("img:2");
  const second = await made();
  expect(second.revisions).toHaveLength(2);
  expect(second.revisions).toEqual(expect.arrayContaining(first.revisions));

  await toTheirs();
  await lookedAt(3);
  expect(await made()).toEqual(second);
  for (const image of ["img:1", "img:2"]) await rolledOut(image);
  const { revisions, replicaSets } = await made();
  expect({ revisions, replicaSets }).toEqual({
    revisions: second.revisions,
    replicaSets: second.replicaSets,
  });

  await toOurs();
  await lookedAt(4);
  await rolledOut("img:1");
  expect(await made()).toMatchObject({ revisions: second.revisions, replicaSets: second.replicaSets });
});
