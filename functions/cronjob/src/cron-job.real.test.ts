// The sandbox serves no CronJobs: these tests run on a real API server, without other controllers, and on the clock of the test.
import type { Manifest, TestCluster } from "@drover/testing";
import { expect, it } from "vitest";
import { onRealCluster } from "../../job/src/testing/real-cluster.ts";
import { cronJobController } from "./cron-job-controller.ts";
import { type CronJobStatus, cronJobSchema } from "./cron-job.ts";
import deployedAs from "./function.ts";

const cronJobs = { apiVersion: "batch/v1", kind: "CronJob" };
const jobs = { apiVersion: "batch/v1", kind: "Job" };
const open = onRealCluster([cronJobs, jobs]);

const cron = (spec: object): Manifest => ({
  ...cronJobs,
  metadata: { name: "tick" },
  spec: {
    schedule: "*/5 * * * *",
    jobTemplate: {
      metadata: { labels: { app: "tick" } },
      spec: {
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "tick:1" }] } },
      },
    },
    ...spec,
  },
});
/** At the last full five minutes: the API server's clock says when the CronJob was created. */
async function given(spec: object): Promise<TestCluster> {
  const cluster = await open(({ now }) => cronJobController(now), deployedAs);
  await cluster.apply(cron(spec));
  await cluster.advance("10ms");
  return cluster;
}
const jobsOf = async (cluster: TestCluster) =>
  [...(await cluster.list(jobs))].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
async function statusNow(cluster: TestCluster): Promise<CronJobStatus> {
  return cronJobSchema.parse(await cluster.get(cronJobs, "tick")).status;
}
const reasons = ({ announcements }: TestCluster) => announcements.map(({ reason }) => reason);
async function finish(cluster: TestCluster, name: string, type: "Complete" | "Failed"): Promise<void> {
  const at = cluster
    .now()
    .toISOString()
    .replace(/[.]\d+Z/, "Z");
  const condition = (of: string) => ({ type: of, status: "True", lastTransitionTime: at, reason: "x" });
  const conditions = type === "Complete" ? ["SuccessCriteriaMet", type] : ["FailureTarget", type];
  await cluster.writeStatus({
    ...jobs,
    metadata: { name },
    status: {
      startTime: at,
      conditions: conditions.map(condition),
      ...(type === "Complete" && { completionTime: at, succeeded: 1 }),
    },
  });
  await cluster.advance("10ms");
}

it("starts a Job at each time, with its labels, owner and the time, and notes it", async () => {
  const cluster = await given({ timeZone: "Asia/Kolkata" });
  expect(await jobsOf(cluster)).toEqual([]);
  await cluster.advance("5m");
  const [job] = await jobsOf(cluster);
  const minute = Math.floor(cluster.now().getTime() / 300_000) * 5;
  expect(job?.metadata).toMatchObject({
    name: `tick-${minute}`,
    labels: { app: "tick" },
    annotations: {
      "batch.kubernetes.io/cronjob-scheduled-timestamp": expect.stringMatching(
        /:[05]0?:?.*[+]05:30$/,
      ) as unknown,
    },
    ownerReferences: [{ kind: "CronJob", name: "tick", controller: true }],
  });
  expect(await statusNow(cluster)).toMatchObject({
    active: [{ kind: "Job", name: `tick-${minute}`, uid: job?.metadata.uid }],
    lastScheduleTime: new Date(minute * 60_000).toISOString().replace(".000", ""),
  });
  expect(reasons(cluster)).toEqual(["SuccessfulCreate"]);
  await finish(cluster, `tick-${minute}`, "Complete");
  expect(await statusNow(cluster)).toMatchObject({
    active: [],
    lastSuccessfulTime: expect.any(String) as unknown,
  });
  await cluster.advance("5m");
  expect(await jobsOf(cluster)).toHaveLength(2);
});

it.each([
  ["Forbid", 1, "JobAlreadyActive"],
  ["Replace", 1, "SuccessfulDelete"],
  ["Allow", 2, "SuccessfulCreate"],
])(
  "with %s and a Job that is active, there is %d at the next time (%s)",
  async (concurrencyPolicy, count, reason) => {
    const cluster = await given({ concurrencyPolicy });
    await cluster.advance("5m");
    await cluster.advance("5m");
    expect(await jobsOf(cluster)).toHaveLength(count);
    expect((await statusNow(cluster)).active).toHaveLength(count);
    expect(reasons(cluster)).toContain(reason);
  },
);

it("starts nothing while it is suspended, and the last missed one when it is resumed", async () => {
  const cluster = await given({ suspend: true });
  await cluster.advance("16m");
  expect(await jobsOf(cluster)).toEqual([]);
  await cluster.patch(cronJobs, "tick", { spec: { suspend: false } });
  await cluster.advance("10ms");
  expect(await jobsOf(cluster)).toHaveLength(1);
});

it("starts nothing later than `startingDeadlineSeconds`", async () => {
  const cluster = await given({ suspend: true, startingDeadlineSeconds: 30 });
  const minutes = 5 - (new Date(cluster.now()).getMinutes() % 5);
  await cluster.advance(`${minutes + 1}m`);
  await cluster.patch(cronJobs, "tick", { spec: { suspend: false } });
  await cluster.advance("10ms");
  expect(await jobsOf(cluster)).toEqual([]);
});

it("keeps as many finished Jobs as the limits say", async () => {
  const cluster = await given({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
  for (const end of ["Complete", "Failed", "Complete"] as const) {
    await cluster.advance("5m");
    const last = (await jobsOf(cluster)).at(-1);
    await finish(cluster, last?.metadata.name ?? "", end);
  }
  expect(
    (await jobsOf(cluster)).filter(({ status }) => JSON.stringify(status).includes("Complete")),
  ).toHaveLength(1);
  expect((await jobsOf(cluster)).filter(({ status }) => JSON.stringify(status).includes("Failed"))).toEqual(
    [],
  );
});

/** As a run leaves it that was killed before it noted the Job of a time, so many minutes after the last full five. */
async function startedBefore(cluster: TestCluster, minutes: number, changes: object = {}): Promise<string> {
  const { metadata: owner } = (await cluster.get(cronJobs, "tick")) ?? expect.fail("no CronJob");
  const minute = Math.floor(cluster.now().getTime() / 300_000) * 5 + minutes;
  const name = `tick-${minute}`;
  const time = new Date(minute * 60_000).toISOString().replace(".000", "");
  await cluster.apply({
    ...jobs,
    metadata: {
      name,
      annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": time },
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid: owner.uid, controller: true },
      ],
      ...changes,
    },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "tick:1" }] } } },
  });
  await cluster.advance("10ms");
  return name;
}

it("takes up a Job that a killed run had started, and starts none beside it", async () => {
  const cluster = await given({ concurrencyPolicy: "Forbid" });
  const name = await startedBefore(cluster, 0);
  expect((await statusNow(cluster)).active).toMatchObject([{ name }]);
  await cluster.advance("5m");
  expect(await jobsOf(cluster)).toHaveLength(1);
  expect(reasons(cluster)).toContain("JobAlreadyActive");
});

it.each([
  ["of a time that has not come", 60, {}],
  ["whose time is not that of its name", 0, { name: "tick-manual" }],
  ["without a time", 0, { annotations: {} }],
])("does not take up a Job %s", async (_, minutes, changes) => {
  const cluster = await given({});
  await startedBefore(cluster, minutes, changes);
  expect(await statusNow(cluster)).toMatchObject({ active: [] });
  expect((await statusNow(cluster)).lastScheduleTime).toBeUndefined();
  expect(reasons(cluster)).toContain("UnexpectedJob");
});

it("does not start a Job beside one that a user has released, with Forbid", async () => {
  const cluster = await given({ concurrencyPolicy: "Forbid" });
  await cluster.advance("5m");
  const [job] = await jobsOf(cluster);
  await cluster.patch(jobs, job?.metadata.name ?? "", { metadata: { ownerReferences: null } });
  await cluster.advance("10ms");
  await cluster.advance("5m");
  expect(await jobsOf(cluster)).toHaveLength(1);
  expect(reasons(cluster)).toEqual(["SuccessfulCreate", "JobAlreadyActive"]);
});
