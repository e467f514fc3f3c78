import { type ObjectClient, objectKey, type ReconcileContext } from "@drover/controller";
import { builtin, connect } from "@drover/kube";
import { testCluster, type TestCluster } from "@drover/testing";
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
const open = async (): Promise<TestCluster> =>
  (cluster = await testCluster(({ now }) => replicaSetController(now), { deployedAs }));

it("makes as many pods as are asked for, and says so", async () => {
  const opened = await open();
  await opened.apply(web(3));
  await opened.settled();
  expect((await opened.list(pods)).map(({ metadata }) => metadata.name)).toHaveLength(3);
  expect((await opened.get(sets, "web"))?.["status"]).toEqual({
    ...{ replicas: 3, fullyLabeledReplicas: 3, terminatingReplicas: 0, observedGeneration: 1 },
  });
});

it("makes no pod for a set that has gone since the run has read it", async () => {
  let meanwhile: () => Promise<unknown> = () => Promise.resolve();
  const opened = (cluster = await testCluster(
    ({ now }) => {
      const controller = replicaSetController(now);
      return {
        ...controller,
        reconcile: async (context) => (await meanwhile(), controller.reconcile(context)),
      };
    },
    { deployedAs },
  ));
  await opened.apply(web(3));
  await opened.settled();
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
  await opened.apply({ ...web(3), spec: { ...(spec as object), minReadySeconds: 1 } });
  await opened.settled();
  const made = opened.announcements.filter(({ reason }) => reason === "SuccessfulCreate");
  expect(made).toHaveLength(3);
  expect(await opened.list(pods)).toHaveLength(2);
});

it("deletes only as many as are too many when it deletes them", async () => {
  let before: () => Promise<unknown> = () => Promise.resolve();
  const opened = (cluster = await testCluster(
    ({ now }) => {
      const controller = replicaSetController(now);
      const late = (inner: ObjectClient): ObjectClient => ({
        ...inner,
        list: async (...asked) => (await before(), inner.list(...asked)),
      });
      return {
        ...controller,
        reconcile: (context: ReconcileContext<typeof ReplicaSet>) =>
          controller.reconcile({ ...context, client: late(context.client) }),
      };
    },
    { deployedAs },
  ));
  await opened.apply(web(4));
  await opened.settled();
  const [first] = await opened.list(pods);
  before = async () => {
    before = () => Promise.resolve();
    await opened.delete(pods, first?.metadata.name ?? "");
  };
  await opened.apply(web(2));
  await opened.settled();
  const deleted = opened.announcements.filter(({ reason }) => reason === "SuccessfulDelete");
  expect(deleted).toHaveLength(1);
  expect(await opened.list(pods)).toHaveLength(2);
});

it("releases a pod that was relabelled, and none that is to end", async () => {
  const opened = await open();
  await opened.apply(web(2));
  await opened.settled();
  const [leaving = "", staying = ""] = (await opened.list(pods)).map(({ metadata }) => metadata.name);
  await opened.apply({ ...pods, metadata: { name: leaving, finalizers: ["example.com/hold"] } });
  await opened.delete(pods, leaving);
  for (const [name, finalizers] of [[leaving, ["example.com/hold"]], [staying]] as const)
    await opened.apply({ ...pods, metadata: { name, finalizers, labels: { app: "other" } } });
  await opened.settled();
  const owners = async (name: string) => (await opened.get(pods, name))?.metadata.ownerReferences;
  expect(await owners(staying)).toBeUndefined();
  expect(await owners(leaving)).toHaveLength(1);
});

it("tries again soon when what was refused may have become possible, and then with backoff", async () => {
  let refusals = 0;
  const opened = (cluster = await testCluster(
    ({ now }) => {
      const controller = replicaSetController(now);
      const refusing = (inner: ObjectClient): ObjectClient => ({
        ...inner,
        create: (...asked) =>
          refusals-- > 0 ? Promise.reject(new Error("exceeded quota")) : inner.create(...asked),
      });
      return {
        ...controller,
        reconcile: (context: ReconcileContext<typeof ReplicaSet>) =>
          controller.reconcile({ ...context, client: refusing(context.client) }),
      };
    },
    { deployedAs },
  ));
  await opened.apply(web(1));
  await opened.settled();
  const [pod] = await opened.list(pods);
  const before = opened.runs.length;
  refusals = 2;
  await opened.delete(pods, pod?.metadata.name ?? "");
  await opened.settled();
  const verdicts = opened.runs.slice(before).map(({ verdict, asksAgain }) => [verdict.kind, asksAgain]);
  expect(verdicts.slice(0, 3)).toEqual([
    ["done", true],
    ["retry", false],
    ["done", false],
  ]);
  expect(await opened.list(pods)).toHaveLength(1);
});
