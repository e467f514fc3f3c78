import { testCluster, type TestCluster } from "@drover/testing";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { bothDeployed, bothFunctions, deployments, pods, sets, web } from "./testing/web.ts";

let cluster: TestCluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});
const open = async (): Promise<TestCluster> =>
  (cluster = await testCluster(bothFunctions, { deployedAs: bothDeployed }));

/** What a kubelet does: pods that are not ready become so, until nothing changes any more. */
async function run(opened: TestCluster, settle = () => opened.runUntilIdle()): Promise<void> {
  for (;;) {
    await settle();
    const waiting = (await opened.list(pods)).filter(
      ({ status }) => !JSON.stringify(status).includes('"Ready"'),
    );
    if (waiting.length === 0) return;
    const lastTransitionTime = opened.now().toISOString().replace(/\.\d+/, "");
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
    for (const { metadata } of waiting) await opened.writeStatus({ ...pods, metadata, status });
  }
}

it("makes a set with its pods, and is available when they are", async () => {
  const opened = await open();
  await opened.apply(web("web:1", 3));
  await run(opened);
  expect((await opened.get(deployments, "web"))?.["status"]).toMatchObject({
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    observedGeneration: 1,
    conditions: [
      { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
      { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
    ],
  });
});

it.each([1, 57, 58, 241, 242, 243, 251, 252, 253])(
  "has pods with a name of %d characters",
  async (length) => {
    const opened = await open();
    const { spec } = web("web:1", 2);
    await opened.apply({ ...deployments, metadata: { name: "a".repeat(length) }, spec });
    await run(opened);
    expect(await opened.list(pods)).toHaveLength(2);
  },
);

it("goes to another image, and keeps the old set", async () => {
  const opened = await open();
  await opened.apply(web("web:1", 3));
  await run(opened);
  await opened.apply(web("web:2", 3));
  await run(opened);
  const found = await opened.list(sets);
  // A set is named after a hash of its template, so the order of the names has no meaning.
  const imageOf = ({ spec }: (typeof found)[number]): string =>
    /web:\d/.exec(JSON.stringify(spec))?.[0] ?? "";
  const byImage = found.toSorted((a, b) => imageOf(a).localeCompare(imageOf(b)));
  expect(byImage.map(imageOf)).toEqual(["web:1", "web:2"]);
  expect(byImage.map(({ spec }) => spec)).toMatchObject([{ replicas: 0 }, { replicas: 3 }]);
  for (const { metadata } of found)
    expect(Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith("kubectl."))).toEqual([]);
  expect((await opened.get(deployments, "web"))?.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/revision": "2",
  });
});

it("releases a set whose labels were changed, and makes another of its template", async () => {
  const opened = await open();
  await opened.apply(web("web:1", 2));
  await run(opened);
  const [before] = await opened.list(sets);
  const name = before?.metadata.name ?? "";
  await opened.apply({ ...sets, metadata: { name, labels: { app: "mine" } } });
  await run(opened);
  const found = await opened.list(sets);
  const ofNobody = found.filter(({ metadata }) => metadata.ownerReferences === undefined);
  expect(ofNobody.map(({ metadata }) => metadata.name)).toEqual([name]);
  expect(found.map(({ spec }) => spec)).toMatchObject([{ replicas: 2 }, { replicas: 2 }]);
  expect((await opened.get(deployments, "web"))?.["status"]).toMatchObject({
    availableReplicas: 2,
    collisionCount: 1,
  });
});

it("waits longer than a queue can for pods that must be ready for 30 days, and then counts them", async () => {
  const opened = await open();
  await opened.apply(web("web:1", 1, { minReadySeconds: 2_592_000, progressDeadlineSeconds: 2_600_000 }));
  await run(opened);
  const available = async () =>
    z
      .object({ status: z.object({ availableReplicas: z.int().default(0) }) })
      .parse(await opened.get(deployments, "web")).status.availableReplicas;
  await opened.advance("20d");
  expect(await available()).toBe(0);
  await opened.advance("10d");
  await opened.advance("1m");
  expect(await available()).toBe(1);
  expect(opened.runs.filter(({ outcome }) => outcome.kind === "retry")).toEqual([]);
});

it("goes on with a rollout only when new pods have been ready for minReadySeconds, and then does", async () => {
  const opened = await open();
  const at = () => opened.advance("0s");
  const ready = z.object({ lastTransitionTime: z.string() });
  /** Pods that count, as kube-controller-manager's IsPodAvailable decides. */
  const available = async (): Promise<number> => {
    const since = (await opened.list(pods)).map(({ status }) =>
      Date.parse(
        z.object({ conditions: z.array(ready) }).parse(status).conditions[0]?.lastTransitionTime ?? "",
      ),
    );
    return since.filter((at) => at + 30_000 <= opened.now().getTime()).length;
  };
  const bounds = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const more = { minReadySeconds: 30, strategy: { type: "RollingUpdate", ...bounds } };
  await opened.apply(web("web:1", 3, more));
  await run(opened, at);
  await opened.advance("29s");
  expect((await opened.get(deployments, "web"))?.["status"]).toMatchObject({ readyReplicas: 3 });
  expect((await opened.get(deployments, "web"))?.["status"]).not.toMatchObject({ availableReplicas: 3 });
  await opened.advance("2s");
  expect((await opened.get(deployments, "web"))?.["status"]).toMatchObject({ availableReplicas: 3 });
  await opened.apply(web("web:2", 3, more));
  await run(opened, at);
  const isDone = async () =>
    (await opened.list(pods)).every(({ spec }) => JSON.stringify(spec).includes("web:2"));
  let seconds = 0;
  for (; seconds < 150 && !(await isDone()); seconds += 3) {
    expect(await available()).toBeGreaterThanOrEqual(3);
    expect((await opened.list(pods)).length).toBeLessThanOrEqual(4);
    await opened.advance("3s");
    await run(opened, at);
  }
  // One at a time, each after its 30 s; times are of whole seconds.
  expect(seconds).toBeGreaterThanOrEqual(90);
  expect(seconds).toBeLessThanOrEqual(108);
});

it("states that a rollout has timed out when its deadline is over, though nothing happens then", async () => {
  const opened = await open();
  const progressing = async () =>
    z
      .object({ conditions: z.array(z.object({ type: z.string(), reason: z.string() })) })
      .parse((await opened.get(deployments, "web"))?.["status"])
      .conditions.find(({ type }) => type === "Progressing")?.reason;
  await opened.apply(web("web:1", 2, { progressDeadlineSeconds: 10 }));
  await opened.advance("9s"); // no kubelet runs its pods
  expect(await progressing()).toBe("ReplicaSetUpdated");
  await opened.advance("3s");
  expect(await progressing()).toBe("ProgressDeadlineExceeded");
});

it("brings a changed minReadySeconds to the set that stands, and makes no other", async () => {
  const opened = await open();
  await opened.apply(web("web:1", 2, { minReadySeconds: 5 }));
  await run(opened);
  expect((await opened.list(sets)).map(({ spec }) => spec)).toMatchObject([{ minReadySeconds: 5 }]);
  await opened.apply(web("web:1", 2, { minReadySeconds: 40 }));
  await run(opened);
  expect((await opened.list(sets)).map(({ spec }) => spec)).toMatchObject([{ minReadySeconds: 40 }]);
});
