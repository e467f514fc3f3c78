import { type ObjectClient, objectKey, type ReconcileContext } from "@drover/controller";
import { builtin, connect, type KubeObject } from "@drover/kube";
import { type Manifest, testCluster, type TestCluster } from "@drover/testing";
import type { ReplicaSet } from "@drover/workloads";
import { afterEach, expect, it } from "vitest";
import deployedAs from "./function.ts";
import { replicaSetController } from "./replica-set-controller.ts";
import { pods, sets, web } from "./testing/web.ts";

let cluster: TestCluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});
type Context = ReconcileContext<typeof ReplicaSet>;
type Reconcile = ReturnType<typeof replicaSetController>["reconcile"];
/** @param around is called in place of the controller's reconcile, which it may call. */
const open = async (
  around: (reconcile: Reconcile, context: Context) => ReturnType<Reconcile> = (reconcile, context) =>
    reconcile(context),
): Promise<TestCluster> =>
  (cluster = await testCluster(
    ({ now }) => {
      const controller = replicaSetController(now);
      return {
        ...controller,
        reconcile: (context: Context) => around((asked) => controller.reconcile(asked), context),
      };
    },
    { deployedAs },
  ));
/** As `open`, with other methods of the client. */
const openWith = (change: (client: ObjectClient) => Partial<ObjectClient>): Promise<TestCluster> =>
  open((reconcile, context) =>
    reconcile({ ...context, client: { ...context.client, ...change(context.client) } }),
  );
const applied = async (opened: TestCluster, manifest: Manifest): Promise<void> => {
  await opened.apply(manifest);
  await opened.runUntilIdle();
};

it("makes as many pods as are asked for, and counts them in its status", async () => {
  const opened = await open();
  await applied(opened, web(3));
  expect((await opened.list(pods)).map(({ metadata }) => metadata.name)).toHaveLength(3);
  expect((await opened.get(sets, "web"))?.["status"]).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 3,
    terminatingReplicas: 0,
    observedGeneration: 1,
  });
});

const namesOf = (all: Awaited<ReturnType<TestCluster["list"]>>) => all.map(({ metadata }) => metadata.name);
const statusNow = async (opened: TestCluster) => (await opened.get(sets, "web"))?.["status"];

it("counts its pods by their state whenever that changes, and replaces those that end", async () => {
  const opened = await open();
  await applied(opened, web(3));
  const [ready = "", failed = "", held = ""] = namesOf(await opened.list(pods));
  const isReady = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const writeRunning = (condition: object) =>
    opened.writeStatus({
      ...pods,
      metadata: { name: ready },
      status: { phase: "Running", conditions: [condition] },
    });
  await writeRunning(isReady);
  await opened.runUntilIdle();
  expect(await statusNow(opened)).toMatchObject({ replicas: 3, readyReplicas: 1, availableReplicas: 1 });
  // Its phase is the same.
  const isNot = { ...isReady, status: "False" };
  await writeRunning(isNot);
  await opened.runUntilIdle();
  expect(await statusNow(opened)).not.toHaveProperty("readyReplicas");
  await writeRunning(isReady);
  await opened.writeStatus({ ...pods, metadata: { name: failed }, status: { phase: "Failed" } });
  await opened.runUntilIdle();
  expect(await opened.list(pods)).toHaveLength(4);
  await opened.apply({ ...pods, metadata: { name: held, finalizers: ["example.com/hold"] } });
  await opened.delete(pods, held);
  await opened.runUntilIdle();
  expect(await opened.list(pods)).toHaveLength(5);
  expect(await statusNow(opened)).toMatchObject({ replicas: 3, readyReplicas: 1, terminatingReplicas: 1 });
  // Ended pods are not counted, and not deleted as surplus.
  await applied(opened, web(2));
  const left = namesOf(await opened.list(pods));
  expect(left).toEqual(expect.arrayContaining([ready, failed, held]));
  expect(left).toHaveLength(4);
  expect(await statusNow(opened)).toMatchObject({ replicas: 2, terminatingReplicas: 1 });
});

it("makes no pods while it is being deleted, and still counts those left", async () => {
  const opened = await open();
  const { metadata, ...rest } = web(2);
  await applied(opened, { ...rest, metadata: { ...metadata, finalizers: ["example.com/hold"] } });
  await opened.delete(sets, "web");
  await opened.delete(pods, namesOf(await opened.list(pods))[0] ?? "");
  await opened.runUntilIdle();
  expect(await opened.list(pods)).toHaveLength(1);
  expect(await statusNow(opened)).toMatchObject({ replicas: 1 });
});

const placed = (name: string, nodeName: string, more: object = {}): Manifest => ({
  ...pods,
  metadata: { name, labels: { app: "web" }, ...more },
  spec: { nodeName, containers: [{ name: "web", image: "web:1" }] },
});
const heldBy = (kind: string, { metadata: { name, uid } }: KubeObject) => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid, controller: true }],
});

it("neither counts nor deletes pods that its selector matches and another one controls", async () => {
  const opened = await open();
  const other = await opened.apply({ ...web(2), metadata: { name: "other" } });
  const held = heldBy("ReplicaSet", other);
  for (const name of ["a", "b"])
    await opened.apply(placed(name, "x", { ...held, finalizers: ["example.com/hold"] }));
  await applied(opened, web(2));
  await opened.delete(pods, "a");
  await applied(opened, web(1));
  const others = (await opened.list(pods)).filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ name }) => name === "other"),
  );
  const ending = others.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect([others.length, namesOf(ending)]).toEqual([3, ["a"]]);
  expect(opened.announcements.filter(({ reason }) => reason === "SuccessfulDelete")).toHaveLength(1);
  expect(await statusNow(opened)).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
});

/** A set of pods on these nodes, and with another selector than `web`'s. */
async function setOn(
  opened: TestCluster,
  name: string,
  nodes: readonly string[],
  metadata: object,
): Promise<void> {
  const labels = { app: name };
  const spec = { ...(web(nodes.length).spec as object), selector: { matchLabels: labels } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  for (const [i, node] of nodes.entries()) await opened.apply(placed(`${name}-${i}`, node, { labels }));
  await opened.apply({ ...sets, metadata: { name, ...metadata }, spec: { ...spec, template } });
}
it.each([
  ["with a pod of its Deployment's other set", ["x", "y"], { old: ["y"] }, "y"],
  ["with pods of any of them", ["x", "y"], { older: ["x"], oldest: ["y", "y"] }, "y"],
  ["with pods of its Deployment, not of another's", ["x", "y"], { old: ["x"], foreign: ["y", "y"] }, "x"],
  ["with most, its own counted once", ["x", "x", "x", "y"], { old: ["y", "y", "y"] }, "y"],
])("of pods that are as good one goes that shares its node %s", async (_, own, beside, expected) => {
  const opened = await open();
  const deployment = await opened.apply({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: web(1).spec,
  });
  const held = heldBy("Deployment", deployment);
  for (const [name, nodes] of Object.entries(beside))
    await setOn(opened, name, nodes, name === "foreign" ? {} : held);
  for (const [i, node] of own.entries()) await opened.apply(placed(`web-${i}`, node));
  const owned = (replicas: number): Manifest => ({ ...web(replicas), metadata: { name: "web", ...held } });
  await applied(opened, owned(own.length));
  await applied(opened, owned(own.length - 1));
  // They are on a node, and take their time to end.
  const ending = (await opened.list(pods)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect(ending.map(({ spec }) => spec)).toMatchObject([{ nodeName: expected }]);
  expect(await statusNow(opened)).toMatchObject({ replicas: own.length - 1, terminatingReplicas: 1 });
});

it("makes no pod for a set that has gone since the run has read it", async () => {
  let meanwhile: () => Promise<unknown> = () => Promise.resolve();
  const opened = await open(async (reconcile, context) => (await meanwhile(), reconcile(context)));
  await applied(opened, web(3));
  const [first] = await opened.list(pods);
  meanwhile = async () => {
    const client = await connect({ ...opened.server, userAgent: "people" });
    await client.delete(builtin.replicaSet, objectKey({ namespace: "default", name: "web" }), {
      propagationPolicy: "Orphan",
    });
    const name = first?.metadata.name ?? "";
    await client.delete(builtin.pod, objectKey({ namespace: "default", name }));
    await client.close();
    meanwhile = () => Promise.resolve();
  };
  const { spec } = web(3);
  await applied(opened, { ...web(3), spec: { ...(spec as object), minReadySeconds: 1 } });
  const made = opened.announcements.filter(({ reason }) => reason === "SuccessfulCreate");
  expect(made).toHaveLength(3);
  expect(await opened.list(pods)).toHaveLength(2);
});

it.each([
  [4, 1, 2, 1],
  [5, 3, 3, 0],
])(
  "of %i pods, of which %i go by themselves, it deletes only as many as are too many for %i then: %i",
  async (had, going, wanted, expected) => {
    let before: () => Promise<unknown> = () => Promise.resolve();
    const opened = await openWith((client) => ({
      list: async (...asked) => (await before(), client.list(...asked)),
    }));
    await applied(opened, web(had));
    const names = namesOf(await opened.list(pods)).slice(0, going);
    before = async () => {
      before = () => Promise.resolve();
      for (const name of names) await opened.delete(pods, name);
    };
    await applied(opened, web(wanted));
    const deleted = opened.announcements.filter(({ reason }) => reason === "SuccessfulDelete");
    expect(deleted).toHaveLength(expected);
    expect(await opened.list(pods)).toHaveLength(wanted);
  },
);

it("releases a pod that was relabelled, and none that is to end", async () => {
  const opened = await open();
  await applied(opened, web(2));
  const [leaving = "", staying = ""] = (await opened.list(pods)).map(({ metadata }) => metadata.name);
  await opened.apply({ ...pods, metadata: { name: leaving, finalizers: ["example.com/hold"] } });
  await opened.delete(pods, leaving);
  for (const [name, finalizers] of [[leaving, ["example.com/hold"]], [staying]] as const)
    await applied(opened, { ...pods, metadata: { name, finalizers, labels: { app: "other" } } });
  const owners = async (name: string) => (await opened.get(pods, name))?.metadata.ownerReferences;
  expect(await owners(staying)).toBeUndefined();
  expect(await owners(leaving)).toHaveLength(1);
});

it("tries again soon when what was refused may have become possible, and then with backoff", async () => {
  let refusals = 0;
  const opened = await openWith((client) => ({
    create: (...asked) =>
      refusals-- > 0 ? Promise.reject(new Error("exceeded quota")) : client.create(...asked),
  }));
  await applied(opened, web(1));
  const [pod] = await opened.list(pods);
  const before = opened.runs.length;
  refusals = 2;
  await opened.delete(pods, pod?.metadata.name ?? "");
  await opened.runUntilIdle();
  const verdicts = opened.runs
    .slice(before)
    .map(({ outcome, requestsRequeue }) => [outcome.kind, requestsRequeue]);
  expect(verdicts.slice(0, 3)).toEqual([
    ["done", true],
    ["retry", false],
    ["done", false],
  ]);
  expect(await opened.list(pods)).toHaveLength(1);
});

it("reports that pods could not be deleted, and deletes them when they can be", async () => {
  let refuses = false;
  const opened = await open(async (reconcile, context) => {
    const { client } = context;
    const result = await reconcile({
      ...context,
      client: {
        ...client,
        delete: (...asked) => (refuses ? Promise.reject(new Error("not now")) : client.delete(...asked)),
      },
    });
    stated.push((await client.get(builtin.replicaSet, context.key))?.["status"]);
    refuses = false;
    return result;
  });
  const stated: unknown[] = [];
  await applied(opened, web(2));
  [refuses, stated.length] = [true, 0];
  await applied(opened, web(1));
  expect(stated[0]).toMatchObject({ conditions: [{ type: "ReplicaFailure", reason: "FailedDelete" }] });
  expect(await statusNow(opened)).toMatchObject({ replicas: 1 });
  expect(JSON.stringify(await statusNow(opened))).not.toContain("ReplicaFailure");
});
