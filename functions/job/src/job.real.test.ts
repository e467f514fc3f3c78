// The sandbox serves no Jobs: these tests run on a real API server, without other controllers, and on the clock of the test.
import type { KubeObject } from "@drover/kube";
import type { Manifest, TestCluster } from "@drover/testing";
import { expect, it } from "vitest";
import deployedAs from "./function.ts";
import { jobController } from "./job-controller.ts";
import { type JobStatus, jobSchema, trackingFinalizer } from "./job.ts";
import { onRealCluster } from "./testing/real-cluster.ts";
import { ended, job, jobs, pods, running, terminated, writePod } from "./testing/jobs.ts";

const open = onRealCluster([jobs, pods]);
async function given(manifest: Manifest): Promise<TestCluster> {
  const cluster = await open(({ now }) => jobController(now), deployedAs);
  await cluster.apply(manifest);
  await cluster.advance(batch);
  return cluster;
}

/** A little more than the time for which changes of pods wait for further ones. */
const batch = "1010ms";

const nameOf = ({ metadata }: KubeObject): string => metadata.name;
const podsOf = async (cluster: TestCluster): Promise<readonly KubeObject[]> =>
  [...(await cluster.list(pods))].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
const isHeld = ({ metadata }: KubeObject): boolean =>
  metadata.finalizers?.includes(trackingFinalizer) === true;
const held = async (cluster: TestCluster): Promise<number> => (await podsOf(cluster)).filter(isHeld).length;
async function statusNow(cluster: TestCluster): Promise<JobStatus> {
  const found = await cluster.get(jobs, "sum");
  return jobSchema.parse(found).status;
}
const conditionsNow = async (cluster: TestCluster): Promise<readonly string[]> =>
  (await statusNow(cluster)).conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
/** Keeps a pod when it is deleted, as its containers do that take time to end. */
const hold = (cluster: TestCluster, pod: KubeObject): Promise<unknown> =>
  cluster.patch(pods, nameOf(pod), {
    metadata: { finalizers: [...(pod.metadata.finalizers ?? []), "example.com/hold"] },
  });
const openPods = async (cluster: TestCluster): Promise<readonly KubeObject[]> =>
  (await podsOf(cluster)).filter(({ status }) => /"(Pending|Running)"/.test(JSON.stringify(status)));
/** Writes a status to the first pods that have not ended. */
async function write(cluster: TestCluster, count: number, status: (at: Date) => object): Promise<void> {
  for (const pod of (await openPods(cluster)).slice(0, count))
    await writePod(cluster, pod, status(cluster.now()));
  await cluster.advance(batch);
}
const succeed = (cluster: TestCluster, count: number) => write(cluster, count, (at) => ended(0, at));
const fail = (cluster: TestCluster, count: number, code = 1) =>
  write(cluster, count, (at) => ended(code, at));

it("runs as many pods at once as it may until all have succeeded", async () => {
  const cluster = await given(job({ completions: 3, parallelism: 2 }));
  expect(await held(cluster)).toBe(2);
  expect(await statusNow(cluster)).toMatchObject({
    active: 2,
    ready: 0,
    terminating: 0,
    startTime: expect.any(String) as unknown,
  });
  await write(cluster, 1, () => running);
  expect(await statusNow(cluster)).toMatchObject({ active: 2, ready: 1 });
  await succeed(cluster, 2);
  expect(await statusNow(cluster)).toMatchObject({ active: 1, ready: 0, succeeded: 2 });
  expect(await podsOf(cluster)).toHaveLength(3);
  await succeed(cluster, 1);
  expect(await held(cluster)).toBe(0);
  const { uncountedTerminatedPods, completionTime, ...status } = await statusNow(cluster);
  expect(status).toMatchObject({ active: 0, succeeded: 3, failed: 0 });
  expect([uncountedTerminatedPods, completionTime]).toEqual([
    { succeeded: [], failed: [] },
    status.conditions[1]?.lastTransitionTime,
  ]);
  expect(await conditionsNow(cluster)).toEqual([
    "SuccessCriteriaMet True CompletionsReached",
    "Complete True CompletionsReached",
  ]);
  expect(cluster.announcements.map(({ reason }) => reason)).toEqual([
    ...["SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "Completed"],
  ]);
});

it("replaces failed pods ten seconds later, then twenty, and fails after `backoffLimit`", async () => {
  const cluster = await given(job({ backoffLimit: 2 }));
  for (const [i, [before, rest]] of (
    [
      ["8s", "2s"],
      ["18s", "2s"],
    ] as const
  ).entries()) {
    await fail(cluster, 1);
    await cluster.advance(before);
    expect(await podsOf(cluster)).toHaveLength(i + 1);
    expect(await statusNow(cluster)).toMatchObject({ active: 0, failed: i + 1 });
    await cluster.advance(rest);
    expect(await podsOf(cluster)).toHaveLength(i + 2);
  }
  await fail(cluster, 1);
  expect(await held(cluster)).toBe(0);
  expect(await statusNow(cluster)).toMatchObject({ active: 0, failed: 3 });
  expect(await conditionsNow(cluster)).toEqual([
    "FailureTarget True BackoffLimitExceeded",
    "Failed True BackoffLimitExceeded",
  ]);
  expect(cluster.announcements.at(-1)).toMatchObject({ type: "Warning", reason: "BackoffLimitExceeded" });
});

it("begins again with ten seconds after a success", async () => {
  const cluster = await given(job({ completions: 3 }));
  await fail(cluster, 1);
  await cluster.advance("10s");
  await succeed(cluster, 1);
  expect(await statusNow(cluster)).toMatchObject({ active: 1, succeeded: 1 });
  await cluster.advance("1s");
  await fail(cluster, 1);
  await cluster.advance("10s");
  expect(await statusNow(cluster)).toMatchObject({ active: 1, failed: 2 });
});

const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 };

it("gives each pod of an Indexed Job its index, and notes those that have succeeded", async () => {
  const cluster = await given(job(indexed));
  const all = await podsOf(cluster);
  expect(all.map(nameOf)).toEqual([0, 1, 2].map((i) => expect.stringMatching(`^sum-${i}-.{5}$`) as unknown));
  expect(all[1]).toMatchObject({
    metadata: {
      labels: { "batch.kubernetes.io/job-completion-index": "1" },
      annotations: { "batch.kubernetes.io/job-completion-index": "1" },
    },
    spec: { hostname: "sum-1", containers: [{ env: [{ name: "JOB_COMPLETION_INDEX" }] }] },
  });
  await writePod(cluster, all[2] ?? (job({}) as never), ended(0, cluster.now()));
  await writePod(cluster, all[0] ?? (job({}) as never), ended(0, cluster.now()));
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ completedIndexes: "0,2", succeeded: 2, active: 1 });
  await succeed(cluster, 1);
  expect(await statusNow(cluster)).toMatchObject({ completedIndexes: "0-2", succeeded: 3 });
});

it("counts failures for each index, and fails when all have ended and one has failed", async () => {
  const cluster = await given(job({ ...indexed, completions: 2, parallelism: 2, backoffLimitPerIndex: 1 }));
  const [first] = await podsOf(cluster);
  if (first) await writePod(cluster, first, ended(1, cluster.now()));
  await cluster.advance(batch);
  // Its replacement gets its count, so it is kept until then.
  expect(await held(cluster)).toBe(2);
  await cluster.advance("10s");
  const again = (await podsOf(cluster)).find(
    ({ metadata }) => metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"] === "1",
  );
  expect(again && nameOf(again)).toMatch(/^sum-0-/);
  if (again) await writePod(cluster, again, ended(1, cluster.now()));
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ failedIndexes: "0", failed: 2, active: 1 });
  await succeed(cluster, 1);
  expect(await conditionsNow(cluster)).toEqual([
    "FailureTarget True FailedIndexes",
    "Failed True FailedIndexes",
  ]);
  expect(await held(cluster)).toBe(0);
});

it("fails at once, ignores a failure, or counts it, by the first rule of `podFailurePolicy` that matches", async () => {
  const rules = [
    { action: "Ignore", onExitCodes: { operator: "In", values: [7] } },
    { action: "FailJob", onExitCodes: { containerName: "main", operator: "NotIn", values: [1] } },
  ];
  const cluster = await given(job({ completions: 2, parallelism: 2, podFailurePolicy: { rules } }));
  await fail(cluster, 1, 7);
  await cluster.advance("10s");
  expect(await statusNow(cluster)).toMatchObject({ active: 2, failed: 0 });
  await fail(cluster, 1, 42);
  expect((await statusNow(cluster)).conditions.at(-1)).toMatchObject({
    type: "Failed",
    reason: "PodFailurePolicy",
    message: expect.stringMatching(
      /^Container main for pod default\/sum-.{5} failed with exit code 42 matching FailJob rule at index 1$/,
    ) as unknown,
  });
  // The other pod was active: it counts as failed.
  expect(await statusNow(cluster)).toMatchObject({ active: 0, failed: 2 });
  expect(await held(cluster)).toBe(0);
});

it("takes exit codes of containers that have failed, of init containers last, for the first rule", async () => {
  const failing = (operator: string, values: readonly number[], action: string) => ({
    action,
    onExitCodes: { operator, values },
  });
  const rules = [failing("In", [9], "Ignore"), failing("NotIn", [1, 2], "FailJob")];
  const cluster = await given(job({ podFailurePolicy: { rules } }));
  await write(cluster, 1, (at) => ({
    ...ended(1, at),
    containerStatuses: [0, 1].map((code, i) => terminated(`c${i}`, code, at)),
    initContainerStatuses: [terminated("i", 0, at)],
  }));
  expect(await statusNow(cluster)).toMatchObject({ conditions: [], failed: 1 });
  await cluster.advance("10s");
  await write(cluster, 1, (at) => ({
    ...ended(1, at),
    containerStatuses: [terminated("c", 1, at)],
    initContainerStatuses: [terminated("i", 5, at)],
  }));
  expect((await statusNow(cluster)).conditions[0]?.message).toMatch(/^Container i for pod .* exit code 5 /);
});

it("counts ignored failures of an index apart", async () => {
  const rules = [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }];
  const spec = { ...indexed, completions: 1, parallelism: 1, backoffLimitPerIndex: 0 };
  const cluster = await given(job({ ...spec, podFailurePolicy: { rules } }));
  const conditions = [{ type: "DisruptionTarget", status: "True" }];
  await write(cluster, 1, (at) => ({ ...ended(1, at), conditions }));
  await cluster.advance("10s");
  const [again] = await openPods(cluster);
  expect(again?.metadata.annotations).toMatchObject({
    "batch.kubernetes.io/job-index-failure-count": "0",
    "batch.kubernetes.io/job-index-ignored-failure-count": "1",
  });
  expect(await statusNow(cluster)).toMatchObject({ active: 1, failed: 0 });
});

it("fails when containers were restarted as often as `backoffLimit` allows", async () => {
  const template = { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "sum:1" }] } };
  const cluster = await given(job({ backoffLimit: 2, template }));
  const restarted = (restartCount: number) => ({
    ...running,
    containerStatuses: running.containerStatuses.map((one) => ({ ...one, restartCount })),
  });
  await write(cluster, 1, () => restarted(1));
  expect(await conditionsNow(cluster)).toEqual([]);
  await write(cluster, 1, () => restarted(2));
  expect(await conditionsNow(cluster)).toContain("Failed True BackoffLimitExceeded");
});

it("counts a failed pod once that an interrupted run has noted", async () => {
  const cluster = await given(job({ backoffLimit: 1 }));
  const [pod] = await podsOf(cluster);
  const failed = [pod?.metadata.uid];
  await cluster.writeStatus({
    ...jobs,
    metadata: { name: "sum" },
    status: { uncountedTerminatedPods: { failed } },
  });
  await fail(cluster, 1);
  // The first run has a copy without the note: its write is refused.
  await cluster.advance("1s");
  expect(await statusNow(cluster)).toMatchObject({ conditions: [], failed: 1 });
});

it("has as many indexes as its completions say now", async () => {
  const cluster = await given(job({ ...indexed, completions: 5, parallelism: 5 }));
  for (const pod of (await podsOf(cluster)).slice(0, 3))
    await writePod(cluster, pod, ended(0, cluster.now()));
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ completedIndexes: "0-2", active: 2 });
  await cluster.patch(jobs, "sum", { spec: { completions: 2, parallelism: 2 } });
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ completedIndexes: "0,1", succeeded: 2, active: 0 });
  expect(await conditionsNow(cluster)).toContain("Complete True CompletionsReached");
});

it("replaces a pod that is being deleted only once it has ended, with `podReplacementPolicy: Failed`", async () => {
  const cluster = await given(job({ ...indexed, podReplacementPolicy: "Failed" }));
  const [first] = await podsOf(cluster);
  if (first === undefined) return expect.fail("There is no pod.");
  await hold(cluster, first);
  await cluster.delete(pods, nameOf(first));
  const [, second] = await podsOf(cluster);
  if (second) await writePod(cluster, second, ended(1, new Date(0)));
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ active: 2, terminating: 1, failed: 1 });
  const indexes = async () =>
    (await podsOf(cluster)).map(
      ({ metadata }) => metadata.labels?.["batch.kubernetes.io/job-completion-index"],
    );
  expect(await indexes()).toEqual(["0", "1", "1", "2"]);
  await writePod(cluster, first, ended(1, new Date(0)));
  await cluster.advance(batch);
  expect(await indexes()).toEqual(["0", "0", "1", "1", "2"]);
});

it("creates pods at once when it is resumed, though those that it deleted still end", async () => {
  const cluster = await given(job({ completions: 2, parallelism: 2 }));
  for (const pod of await podsOf(cluster)) await hold(cluster, pod);
  await cluster.patch(jobs, "sum", { spec: { suspend: true } });
  await cluster.advance(batch);
  await cluster.patch(jobs, "sum", { spec: { suspend: false } });
  await cluster.advance(batch);
  expect(await statusNow(cluster)).toMatchObject({ active: 2, terminating: 2, failed: 0 });
});

it("frees a failed pod that waits to be replaced while its Job is being deleted", async () => {
  const cluster = await given(job({ ...indexed, completions: 1, backoffLimitPerIndex: 1 }));
  await fail(cluster, 1);
  expect(await held(cluster)).toBe(1);
  await cluster.patch(jobs, "sum", { metadata: { finalizers: ["example.com/hold"] } });
  await cluster.delete(jobs, "sum");
  await cluster.advance(batch);
  expect(await held(cluster)).toBe(0);
});

it("succeeds when as many of the named indexes have succeeded as a rule asks for", async () => {
  const rules = [{ succeededIndexes: "0-1", succeededCount: 1 }];
  const cluster = await given(job({ ...indexed, successPolicy: { rules } }));
  const [, second, third] = await podsOf(cluster);
  if (third) await writePod(cluster, third, ended(0, cluster.now()));
  await cluster.advance(batch);
  expect(await conditionsNow(cluster)).toEqual([]);
  if (second) await writePod(cluster, second, ended(0, cluster.now()));
  await cluster.advance(batch);
  expect(await conditionsNow(cluster)).toContain("Complete True SuccessPolicy");
});

it("succeeds as soon as a rule of `successPolicy` is met, and deletes the other pods", async () => {
  const cluster = await given(job({ ...indexed, successPolicy: { rules: [{ succeededIndexes: "0" }] } }));
  await succeed(cluster, 1);
  expect(await podsOf(cluster)).toHaveLength(1);
  expect(await conditionsNow(cluster)).toEqual([
    "SuccessCriteriaMet True SuccessPolicy",
    "Complete True SuccessPolicy",
  ]);
});

it("deletes its pods while it is suspended, and begins again when it is resumed", async () => {
  const cluster = await given(job({ parallelism: 2, completions: 2 }));
  await cluster.patch(jobs, "sum", { spec: { suspend: true } });
  await cluster.advance(batch);
  expect(await podsOf(cluster)).toEqual([]);
  expect(await conditionsNow(cluster)).toEqual(["Suspended True JobSuspended"]);
  expect(await statusNow(cluster)).toMatchObject({ active: 0, failed: 0 });
  expect(await statusNow(cluster)).not.toHaveProperty("startTime");
  await cluster.patch(jobs, "sum", { spec: { suspend: false } });
  await cluster.advance(batch);
  expect(await conditionsNow(cluster)).toEqual(["Suspended False JobResumed"]);
  expect(await statusNow(cluster)).toMatchObject({ active: 2, startTime: expect.any(String) as unknown });
});

it("fails when `activeDeadlineSeconds` are over", async () => {
  const cluster = await given(job({ activeDeadlineSeconds: 60 }));
  await cluster.advance("58s");
  expect(await conditionsNow(cluster)).toEqual([]);
  await cluster.advance("2s");
  expect(await conditionsNow(cluster)).toEqual([
    "FailureTarget True DeadlineExceeded",
    "Failed True DeadlineExceeded",
  ]);
});

it("fails at its deadline also while failed pods wait to be replaced", async () => {
  const cluster = await given(job({ activeDeadlineSeconds: 15 }));
  await fail(cluster, 1);
  await cluster.advance("10s");
  await fail(cluster, 1);
  await cluster.advance("6s");
  expect(await conditionsNow(cluster)).toContain("Failed True DeadlineExceeded");
});

it.each([
  ["complete", succeed],
  ["failed", fail],
] as const)("a %s Job goes `ttlSecondsAfterFinished` after its end, with its pods", async (_, end) => {
  const cluster = await given(job({ ttlSecondsAfterFinished: 100, backoffLimit: 0 }));
  await end(cluster, 1);
  await cluster.advance("98s");
  expect((await cluster.get(jobs, "sum"))?.metadata.deletionTimestamp).toBeUndefined();
  await cluster.advance("2s");
  expect((await cluster.get(jobs, "sum"))?.metadata).toMatchObject({
    deletionTimestamp: expect.any(String) as unknown,
    finalizers: ["foregroundDeletion"],
  });
});

const selector = { matchLabels: { app: "sum" } };
const template = {
  metadata: { labels: { app: "sum" } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "sum:1" }] },
};

it.each([
  ["a selector that the API server made", {}],
  ["one of its own", { manualSelector: true, selector, template }],
])("releases the pods of a Job that is gone, with %s", async (_, spec) => {
  const cluster = await given(job({ parallelism: 2, completions: 2, ...spec }));
  await cluster.delete(jobs, "sum");
  await cluster.advance(batch);
  expect(await cluster.get(jobs, "sum")).toBeUndefined();
  expect([await podsOf(cluster), await held(cluster)]).toEqual([expect.objectContaining({ length: 2 }), 0]);
});

it("releases pods that it does not count: of an earlier Job of its name, and of its own end", async () => {
  const held = { finalizers: [trackingFinalizer], labels: { "batch.kubernetes.io/job-name": "sum" } };
  const spec = { containers: [{ name: "main", image: "sum:1" }] };
  const owner = { apiVersion: "batch/v1", kind: "Job", name: "sum", controller: true };
  const cluster = await open(({ now }) => jobController(now), deployedAs);
  const earlier = [{ ...owner, uid: "b3b5a3c6-0000-4000-8000-000000000000" }];
  await cluster.apply({ ...pods, metadata: { ...held, name: "earlier", ownerReferences: earlier }, spec });
  await cluster.apply({ ...pods, metadata: { ...held, name: "orphan" }, spec });
  const others = [{ ...earlier[0], apiVersion: "batch.volcano.sh/v1alpha1" }];
  await cluster.apply({ ...pods, metadata: { ...held, name: "others", ownerReferences: others }, spec });
  await cluster.apply(job({}));
  await cluster.advance(batch);
  const heldNow = async () => (await podsOf(cluster)).filter(isHeld).map(nameOf);
  expect(await heldNow()).toEqual(["others", expect.stringMatching("^sum-")]);
  await succeed(cluster, 4);
  expect(await conditionsNow(cluster)).toContain("Complete True CompletionsReached");
  const { uid } = (await cluster.get(jobs, "sum"))?.metadata ?? {};
  await cluster.apply({
    ...pods,
    metadata: { ...held, name: "late", ownerReferences: [{ ...owner, uid }] },
    spec,
  });
  await cluster.advance(batch);
  expect(await heldNow()).toEqual(["others"]);
});

it("adopts pods with its labels, with the finalizer, and releases those without, without it", async () => {
  const cluster = await given(job({ manualSelector: true, selector, template, parallelism: 1 }));
  await cluster.apply({
    ...pods,
    metadata: { name: "orphan", labels: { app: "sum" } },
    spec: { containers: [{ name: "main", image: "sum:1" }] },
  });
  await cluster.advance(batch);
  expect(await podsOf(cluster)).toHaveLength(1);
  const [kept] = await podsOf(cluster);
  expect(kept?.metadata).toMatchObject({
    finalizers: [trackingFinalizer],
    ownerReferences: [{ kind: "Job", controller: true }],
  });
  if (kept) await cluster.patch(pods, nameOf(kept), { metadata: { labels: { app: "other" } } });
  await cluster.advance(batch);
  const released = await cluster.get(pods, kept ? nameOf(kept) : "");
  expect([released?.metadata.finalizers, released?.metadata.ownerReferences]).toEqual([undefined, undefined]);
  expect(await statusNow(cluster)).toMatchObject({ active: 1, failed: 0 });
});

it("leaves a Job to the controller that it names", async () => {
  const cluster = await given(job({ managedBy: "example.com/other" }));
  expect(await podsOf(cluster)).toEqual([]);
  expect((await cluster.get(jobs, "sum"))?.["status"]).toEqual({});
});
