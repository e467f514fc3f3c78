// Jobs whose pods really run, with exit codes and retries, from their creation to their end; and what is seen of them.
import { z } from "zod";
import { type PodCluster, scriptContainer } from "../pod-cluster.ts";

const script = (text: string, env: readonly object[] = []) => [{ ...scriptContainer(text), env }];
const job = (name: string, containers: readonly object[], spec: object = {}, podSpec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: {
    template: { spec: { restartPolicy: "Never", terminationGracePeriodSeconds: 1, containers, ...podSpec } },
    ...spec,
  },
});
const failures = {
  name: "FAILURES",
  valueFrom: {
    fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-index-failure-count']" },
  },
};
const forever = "setInterval(() => undefined, 1_000); process.once('SIGTERM', () => process.exit())";
const index = "Number(process.env.JOB_COMPLETION_INDEX)";

/** Each ends by itself, with this condition, or goes. */
const jobs = [
  { ends: "gone", job: job("cleans", script(""), { ttlSecondsAfterFinished: 1 }) },
  { ends: "Complete", job: job("counts", script(""), { completions: 3, parallelism: 2 }) },
  {
    ends: "Complete",
    job: job("retries", script("process.exit(process.env.FAILURES === '0' ? 3 : 0)", [failures]), {
      completionMode: "Indexed",
      completions: 2,
      parallelism: 2,
      backoffLimitPerIndex: 1,
    }),
  },
  {
    ends: "Failed",
    job: job("refuses", script(`${index} === 0 ? process.exit(42) : ${forever}`), {
      completionMode: "Indexed",
      completions: 2,
      parallelism: 2,
      podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] },
    }),
  },
  {
    ends: "Failed",
    job: job("restarts", script("process.exit(1)"), { backoffLimit: 1 }, { restartPolicy: "OnFailure" }),
  },
  {
    ends: "Complete",
    job: job("leads", script(`if (${index} !== 0) ${forever}`), {
      completionMode: "Indexed",
      completions: 2,
      parallelism: 2,
      successPolicy: { rules: [{ succeededIndexes: "0" }] },
    }),
  },
  { ends: "Failed", job: job("lasts", script(forever), { activeDeadlineSeconds: 3 }) },
] as const;

const listSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), finalizers: z.array(z.string()).optional() }),
      status: z.looseObject({ phase: z.string().optional() }),
    }),
  ),
});
const events = z.object({
  items: z.array(
    z.object({
      reason: z.string(),
      type: z.string(),
      involvedObject: z.object({ kind: z.string(), name: z.string() }),
    }),
  ),
});

/** Creates all of them in a namespace of its own, waits for their ends, and returns what two runs have in common. */
export async function playJobs(cluster: PodCluster, namespace: string): Promise<unknown> {
  const kubectl: PodCluster["kubectl"] = (...args) => cluster.kubectl(...args);
  const of = `--namespace=${namespace}`;
  await kubectl(["create", "namespace", namespace]);
  const list = { apiVersion: "v1", kind: "List", items: jobs.map((one) => one.job) };
  await kubectl([of, "apply", "-f", "-"], { input: JSON.stringify(list) });
  for (const { ends, job } of jobs) {
    const what = ends === "gone" ? "delete" : `condition=${ends}`;
    await kubectl([of, "wait", `--for=${what}`, "--timeout=180s", `job/${job.metadata.name}`]);
  }
  // The garbage collector takes the pods, without a finalizer that would keep them.
  const get = async <Schema extends z.ZodType>(what: string, schema: Schema) =>
    schema.parse(JSON.parse(await kubectl([of, "get", what, "-o", "json"])));
  const found = await get("jobs", listSchema);
  const pods = await get("pods", listSchema);
  const about = await get("events", events);
  await kubectl([of, "delete", "jobs", "--all", "--timeout=60s"]);
  await kubectl([of, "wait", "--for=delete", "pods", "--all", "--timeout=60s"]);
  return {
    jobs: found.items.map(({ metadata: { name }, status }) => [name, withoutTimes(status, namespace)]),
    pods: pods.items
      .map(
        ({ metadata: { name, finalizers }, status }) =>
          `${withoutSuffix(name)} ${status.phase} ${JSON.stringify(finalizers)}`,
      )
      .sort(),
    events: [
      ...new Set(
        about.items
          .filter(({ involvedObject }) => involvedObject.kind === "Job")
          .map(({ involvedObject, type, reason }) => `${involvedObject.name}: ${type} ${reason}`),
      ),
    ].sort(),
  };
}

const withoutSuffix = (name: string): string => name.replace(/-[a-z0-9]{5}$/, "");
const time = /"\d{4}-\d\d-\d\dT[^"]+"/g;
const podName = /\/(\w+(?:-\d+)?)-[a-z0-9]{5}\b/g;
const withoutTimes = (status: object, namespace: string): unknown =>
  JSON.parse(
    JSON.stringify(status)
      .replace(time, '"a time"')
      .replaceAll(namespace, "here")
      .replace(podName, "/$1-pod"),
  );
