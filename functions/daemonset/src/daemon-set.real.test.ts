// On a real API server, without other controllers and nodes, and on the clock of the test.
import type { KubeObject } from "@drover/kube";
import type { TestCluster } from "@drover/testing";
import { expect, it } from "vitest";
import { onRealCluster } from "../../job/src/testing/real-cluster.ts";
import { daemonSetSchema, type DaemonSetStatus } from "./daemon-set.ts";
import { daemonSetController } from "./daemon-set-controller.ts";
import deployedAs from "./function.ts";
import { failuresAnnotation } from "./pods/failed-pods.ts";
import { hashLabel, revisionSchema } from "./revision/controller-revision.ts";
import {
  addNode,
  daemonSet,
  daemonSets,
  imagesByNode,
  nodes,
  pods,
  podStatuses,
  revisions,
  startPods,
  writePod,
} from "./testing/daemon-sets.ts";

const opened = onRealCluster([daemonSets, pods, revisions, nodes]);

/** A cluster with these nodes. */
async function open(...names: readonly string[]): Promise<TestCluster> {
  const cluster = await opened(({ now }) => daemonSetController(now), deployedAs);
  for (const name of names) await addNode(cluster, name);
  return cluster;
}

async function given(manifest: ReturnType<typeof daemonSet>, ...names: readonly string[]) {
  const cluster = await open(...names);
  await cluster.apply(manifest);
  await cluster.advance("10ms");
  return cluster;
}

const statusNow = async (cluster: TestCluster): Promise<DaemonSetStatus> =>
  daemonSetSchema.parse(await cluster.get(daemonSets, "agent")).status;
const start = async (cluster: TestCluster): Promise<void> => {
  await startPods(cluster);
  await cluster.advance("10ms");
};
const podOn = async (cluster: TestCluster, node: string): Promise<KubeObject> => {
  const found = (await cluster.list(pods)).find((pod) =>
    JSON.stringify(pod).includes(`"values":["${node}"]`),
  );
  if (found === undefined) throw new Error(`There is no pod on ${node}.`);
  return found;
};
const numbersOf = async (cluster: TestCluster) =>
  (await cluster.list(revisions)).map((one) => revisionSchema.parse(one).revision).sort((a, b) => a - b);
const setTaints = async (cluster: TestCluster, node: string, taints: readonly object[] | null) => {
  await cluster.patch(nodes, node, { spec: { taints } });
  await cluster.advance("10ms");
};

it("runs a pod on each node that its template fits, and counts them", async () => {
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "slots", operator: "Gt", values: ["9"] }] }],
      },
    },
  };
  const cluster = await open();
  await addNode(cluster, "small", { disk: "fast", slots: "4" });
  await addNode(cluster, "large", { disk: "fast", slots: "10" });
  await addNode(cluster, "slow", { disk: "slow", slots: "10" });
  await cluster.apply(daemonSet("v1", {}, { nodeSelector: { disk: "fast" }, affinity }));
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["large: v1"]);
  expect(await statusNow(cluster)).toMatchObject({ desiredNumberScheduled: 1, numberReady: 0 });
  await start(cluster);
  expect(await statusNow(cluster)).toMatchObject({
    currentNumberScheduled: 1,
    desiredNumberScheduled: 1,
    numberAvailable: 1,
    numberMisscheduled: 0,
    numberReady: 1,
    numberUnavailable: 0,
    updatedNumberScheduled: 1,
    observedGeneration: 1,
  });
  await cluster.patch(nodes, "small", { metadata: { labels: { slots: "12" } } });
  await cluster.patch(nodes, "large", { metadata: { labels: { disk: "slow" } } });
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["small: v1"]);
  expect(cluster.announcements.map(({ reason }) => reason)).toEqual([
    ...["SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete"],
  ]);
});

it("comes to nodes with problems, stays on a node with a new taint, and leaves one that evicts pods", async () => {
  const cluster = await given(daemonSet("v1"), "a", "b");
  const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
  await setTaints(cluster, "a", [cordon]);
  await setTaints(cluster, "b", [{ key: "reserved", value: "yes", effect: "NoSchedule" }]);
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "b: v1"]);
  expect(await statusNow(cluster)).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
  await setTaints(cluster, "b", [{ key: "broken", effect: "NoExecute" }]);
  expect(await imagesByNode(cluster)).toEqual(["a: v1"]);
  await addNode(cluster, "c");
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "c: v1"]);
});

it("pins its pods to their nodes, with labels and tolerations of every daemon pod", async () => {
  const own = [
    { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 },
  ];
  const cluster = await given(daemonSet("v1", {}, { hostNetwork: true, tolerations: own }), "a");
  const [pod] = await cluster.list(pods);
  expect(pod?.metadata.labels).toEqual({
    app: "agent",
    "pod-template-generation": "1",
    [hashLabel]: expect.any(String) as unknown,
  });
  const { affinity, tolerations } = pod?.["spec"] as { affinity: object; tolerations: object[] };
  expect(affinity).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }],
      },
    },
  });
  expect(tolerations).toEqual(
    [
      ...["not-ready", "unreachable"].map((problem) => [problem, "NoExecute"]),
      ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "network-unavailable"].map(
        (problem) => [problem, "NoSchedule"],
      ),
    ].map(([problem, effect]) => ({ key: `node.kubernetes.io/${problem}`, operator: "Exists", effect })),
  );
});

it("replaces as many pods as may be unavailable, and raises the revision that is set back", async () => {
  const cluster = await given(daemonSet("v1"), "a", "b", "c");
  await start(cluster);
  await cluster.apply(daemonSet("v2"));
  await cluster.advance("10ms");
  expect((await imagesByNode(cluster)).filter((one) => one.endsWith("v2"))).toHaveLength(1);
  expect(await statusNow(cluster)).toMatchObject({ numberUnavailable: 1, updatedNumberScheduled: 1 });
  for (let i = 0; i < 3; i += 1) await start(cluster);
  expect(await imagesByNode(cluster)).toEqual(["a: v2", "b: v2", "c: v2"]);
  expect(await numbersOf(cluster)).toEqual([1, 2]);
  await cluster.apply(daemonSet("v1"));
  for (let i = 0; i < 3; i += 1) await start(cluster);
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "b: v1", "c: v1"]);
  expect(await numbersOf(cluster)).toEqual([2, 3]);
});

it("with a surge, creates the new pod first, and deletes the old one once it is available", async () => {
  const spec = {
    minReadySeconds: 5,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
  };
  const cluster = await given(daemonSet("v1", spec), "a", "b");
  await start(cluster);
  await cluster.apply(daemonSet("v2", spec));
  await cluster.advance("10ms");
  expect(await cluster.list(pods)).toHaveLength(3);
  const now = cluster
    .now()
    .toISOString()
    .replace(/[.]\d+Z/, "Z");
  const fresh = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: now }],
  };
  for (const pod of await cluster.list(pods))
    if (!JSON.stringify(pod["status"]).includes("Running")) await writePod(cluster, pod, fresh);
  await cluster.advance("3s");
  expect(await cluster.list(pods)).toHaveLength(3);
  await cluster.advance("3s");
  expect((await imagesByNode(cluster)).filter((one) => one.endsWith("v2"))).toHaveLength(2);
});

it("releases a pod that is relabelled, while another one is left on a node that is gone", async () => {
  const cluster = await given(daemonSet("v1"), "a", "b");
  await start(cluster);
  await cluster.patch(pods, (await podOn(cluster, "b")).metadata.name, {
    metadata: { finalizers: ["example.com/kept"] },
  });
  await cluster.delete(nodes, "b");
  await cluster.advance("10ms");
  const { name } = (await podOn(cluster, "a")).metadata;
  await cluster.patch(pods, name, { metadata: { labels: { app: "mine" } } });
  await cluster.advance("10ms");
  expect((await cluster.get(pods, name))?.metadata.ownerReferences ?? []).toEqual([]);
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "a: v1", "b: v1"]);
  for (const { metadata } of await cluster.list(pods))
    if (metadata.finalizers !== undefined)
      await cluster.patch(pods, metadata.name, { metadata: { finalizers: null } });
});

it("with OnDelete, replaces the pods that are deleted", async () => {
  const spec = { updateStrategy: { type: "OnDelete" } };
  const cluster = await given(daemonSet("v1", spec), "a", "b");
  await start(cluster);
  await cluster.apply(daemonSet("v2", spec));
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "b: v1"]);
  await cluster.delete(pods, (await podOn(cluster, "b")).metadata.name);
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "b: v2"]);
});

it("replaces failed pods with backoff, and counts them on the next one", async () => {
  const cluster = await given(daemonSet("v1"), "a");
  const end = async (status: object): Promise<string | undefined> => {
    await writePod(cluster, await podOn(cluster, "a"), status);
    // Pods are created by the server's clock, which may be ahead of the test's.
    await cluster.advance(`${Math.max(0, Date.now() - cluster.now().getTime()) + 5_000}ms`);
    return (await podOn(cluster, "a")).metadata.annotations?.[failuresAnnotation];
  };
  expect(await end(podStatuses.failed)).toBe("1");
  expect(await end(podStatuses.failed)).toBe("2");
  expect(await end(podStatuses.failed)).toBe("3");
  expect(await end(podStatuses.succeeded)).toBeUndefined();
  const reasons = cluster.announcements.map(({ reason }) => reason);
  expect(reasons.filter((reason) => reason.endsWith("DaemonPod"))).toEqual([
    ...["FailedDaemonPod", "FailedDaemonPod", "FailedDaemonPod", "SucceededDaemonPod"],
  ]);
});

it("with a surge, replaces failed new pods with backoff, too, beside the old one", async () => {
  const spec = {
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  };
  const cluster = await given(daemonSet("v1", spec), "a");
  await start(cluster);
  await cluster.apply(daemonSet("v2", spec));
  await cluster.advance("10ms");
  const [old] = (await cluster.list(pods)).filter(({ status }) => JSON.stringify(status).includes("Running"));
  const counts: unknown[] = [];
  for (let failures = 1; failures <= 3; failures++) {
    for (const pod of await cluster.list(pods))
      if (pod.metadata.uid !== old?.metadata.uid) await writePod(cluster, pod, podStatuses.failed);
    // Pods are created by the server's clock, which may be ahead of the test's.
    await cluster.advance(`${Math.max(0, Date.now() - cluster.now().getTime()) + 5_000}ms`);
    const all = await cluster.list(pods);
    expect(all.map(({ metadata }) => metadata.uid)).toContain(old?.metadata.uid);
    expect(all).toHaveLength(2);
    counts.push(...all.map(({ metadata }) => metadata.annotations?.[failuresAnnotation] ?? "old"));
  }
  expect(counts.toSorted()).toEqual(["1", "2", "3", "old", "old", "old"]);
});

it("writes the template to a revision as Go does, and keeps those of pods and of the limit", async () => {
  const args = { containers: [{ name: "main", image: "v1", command: ["sh", "-c", "a <b && c >d \u2028"] }] };
  const spec = { revisionHistoryLimit: 1, updateStrategy: { type: "OnDelete" } };
  const cluster = await given(daemonSet("v1", spec, args), "a");
  // In its JSON the API server escapes these characters anyway; this is as it has stored them.
  const { server, token = "" } = cluster.server;
  const stored = await fetch(`${server}/apis/apps/v1/namespaces/default/controllerrevisions`, {
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.kubernetes.protobuf" },
  });
  const text = Buffer.from(await stored.arrayBuffer()).toString("latin1");
  expect(text).toContain(
    String.raw`{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"agent"}},`,
  );
  expect(text).toContain(String.raw`a \u003cb \u0026\u0026 c \u003ed \u2028`);
  for (const image of ["v2", "v3", "v4"]) {
    await cluster.apply(daemonSet(image, spec));
    await cluster.advance("10ms");
  }
  // The pod has 1, and counts for the limit; 4 is the current one.
  expect(await numbersOf(cluster)).toEqual([1, 4]);
});

it("adopts pods and revisions of a DaemonSet that was deleted without them, and creates no others", async () => {
  const cluster = await given(daemonSet("v1"), "a", "b");
  await start(cluster);
  const before = (await cluster.list(pods)).map(({ metadata }) => metadata.uid).sort();
  for (const kind of [pods, revisions])
    for (const { metadata } of await cluster.list(kind))
      await cluster.patch(kind, metadata.name, { metadata: { ownerReferences: null } });
  await cluster.delete(daemonSets, "agent");
  await cluster.apply(daemonSet("v1"));
  await cluster.advance("10ms");
  const after = await cluster.list(pods);
  expect(after.map(({ metadata }) => metadata.uid).sort()).toEqual(before);
  expect(after.every(({ metadata }) => metadata.ownerReferences?.[0]?.name === "agent")).toBe(true);
  expect(await numbersOf(cluster)).toEqual([1]);
  await cluster.patch(pods, (await podOn(cluster, "b")).metadata.name, {
    metadata: { labels: { app: "other" } },
  });
  await cluster.advance("10ms");
  expect(await imagesByNode(cluster)).toEqual(["a: v1", "b: v1", "b: v1"]);
});

it("deletes surplus pods, but for the oldest of each node", async () => {
  const cluster = await given(daemonSet("v1"), "a");
  const { metadata, ...pod } = await podOn(cluster, "a");
  const { labels, ownerReferences } = metadata;
  await cluster.apply({ ...pods, metadata: { name: "zz", labels, ownerReferences }, spec: pod["spec"] });
  await cluster.advance("10ms");
  expect((await cluster.list(pods)).map((one) => one.metadata.name)).toEqual([metadata.name]);
});
