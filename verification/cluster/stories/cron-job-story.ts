// CronJobs whose pods really run, over two times of their schedules; and what is seen of them.
import { z } from "zod";
import { eventually, type PodCluster, scriptContainer } from "../pod-cluster.ts";

const cronJob = (name: string, script: string, spec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name },
  spec: {
    schedule: "* * * * *",
    jobTemplate: {
      spec: {
        backoffLimit: 0,
        template: {
          spec: {
            restartPolicy: "Never",
            terminationGracePeriodSeconds: 1,
            containers: [scriptContainer(script)],
          },
        },
      },
    },
    ...spec,
  },
});
const forever = "setInterval(() => undefined, 1_000); process.once('SIGTERM', () => process.exit())";

const cronJobs = [
  cronJob("ticks", "", { timeZone: "Asia/Kolkata", successfulJobsHistoryLimit: 1 }),
  cronJob("breaks", "process.exit(3)", { failedJobsHistoryLimit: 2 }),
  cronJob("lasts", forever, { concurrencyPolicy: "Forbid" }),
  cronJob("renews", forever, { concurrencyPolicy: "Replace" }),
  cronJob("rests", "", { suspend: true }),
];

const listSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
      status: z.looseObject({
        // A CronJob lists its Jobs, and a Job counts its pods.
        active: z.union([z.array(z.unknown()).transform((all) => all.length), z.number()]).default(0),
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
        lastScheduleTime: z.string().optional(),
        lastSuccessfulTime: z.string().optional(),
      }),
    }),
  ),
});
type Found = z.output<typeof listSchema>["items"][number];
const eventSchema = z.object({
  items: z.array(
    z.object({
      reason: z.string(),
      involvedObject: z.object({ kind: z.string(), name: z.string() }),
    }),
  ),
});

/** The status of a CronJob, by the times since its first one. */
function shownCronJob({ metadata: { name }, status }: Found, first: number): string {
  const { active, lastScheduleTime, lastSuccessfulTime } = status;
  const minute = lastScheduleTime === undefined ? "never" : (Date.parse(lastScheduleTime) - first) / 60_000;
  const success = lastSuccessfulTime === undefined ? "no success" : "a success";
  return `${name}: ${active} active, last at ${minute}, ${success}`;
}

/** A Job, its time and its end. */
function shownJob({ metadata: { name, annotations }, status }: Found, first: number): string {
  const time = annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] ?? "";
  const [, minutes = ""] = /-(\d+)$/.exec(name) ?? [];
  const named = Number(minutes) - first / 60_000;
  const ends = (status.conditions ?? []).filter((one) => one.status === "True").map(({ type }) => type);
  const at = `${(Date.parse(time) - first) / 60_000}${time.slice(19)}`;
  return `${name.replace(/\d+$/, String(named))} at ${at}: ${ends.sort().join()}`;
}

/** Creates them in a namespace of its own, waits for two of their times, and returns what two runs have in common. */
export async function playCronJobs(cluster: PodCluster, namespace: string): Promise<unknown> {
  const kubectl: PodCluster["kubectl"] = (...args) => cluster.kubectl(...args);
  const of = `--namespace=${namespace}`;
  await kubectl(["create", "namespace", namespace]);
  const list = { apiVersion: "v1", kind: "List", items: cronJobs };
  await kubectl([of, "apply", "-f", "-"], { input: JSON.stringify(list) });
  const get = async <Schema extends z.ZodType>(what: string, schema: Schema) =>
    schema.parse(JSON.parse(await kubectl([of, "get", what, "-o", "json"])));
  await kubectl([of, "wait", "--for=jsonpath={.status.lastScheduleTime}", "--timeout=90s", "cronjob/lasts"]);
  // Forbid: it has no later one.
  const lasts = (await get("cronjobs", listSchema)).items.find(({ metadata }) => metadata.name === "lasts");
  const first = Date.parse(lasts?.status.lastScheduleTime ?? "");
  const look = async () => ({
    cronJobs: (await get("cronjobs", listSchema)).items.map((one) => shownCronJob(one, first)),
    jobs: (await get("jobs", listSchema)).items.map((one) => shownJob(one, first)).sort(),
    events: shownEvents((await get("events", eventSchema)).items),
  });
  await eventually(async () => {
    const { cronJobs: found, events: seenEvents } = await look();
    const missing = [
      ...atRest.filter((one) => !found.includes(one)),
      ...events.filter((one) => !seenEvents.includes(one)),
    ];
    if (missing.length > 0)
      throw new Error(`There are ${[...found, ...seenEvents].join("; ")}, without ${missing.join("; ")}`);
  });
  const seen = await look();
  await kubectl([of, "delete", "cronjobs", "--all", "--timeout=60s"]);
  await kubectl([of, "wait", "--for=delete", "pods", "--all", "--timeout=60s"]);
  return seen;
}

/** After the second time. */
const atRest = [
  "breaks: 0 active, last at 1, no success",
  "lasts: 1 active, last at 0, no success",
  "renews: 1 active, last at 1, no success",
  "rests: 0 active, last at never, no success",
  "ticks: 0 active, last at 1, a success",
];
const events = [
  "breaks: SawCompletedJob",
  "lasts: JobAlreadyActive",
  "renews: SuccessfulDelete",
  "ticks: SawCompletedJob",
  "ticks: SuccessfulDelete",
];

/** Reasons, without one that kube-controller-manager has when it looks before it sees its own last write. */
const shownEvents = (all: z.output<typeof eventSchema>["items"]): readonly string[] =>
  [
    ...new Set(
      all
        .filter(({ involvedObject, reason }) => involvedObject.kind === "CronJob" && reason !== "MissingJob")
        .map(({ involvedObject, reason }) => `${involvedObject.name}: ${reason}`),
    ),
  ].sort();
