// One process with several functions, as apps/controller-manager/deploy has it: its account, its permissions, its registrations.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { redisUserRules } from "@drover/queue";
import { fateAnnotation, startClusterWithFakeNodes } from "@drover/real-cluster";
import { redisRequest, startRedis } from "@drover/local-servers";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { folderOfFile } from "../../packages/testing/src/folder.fixture.ts";
import { root } from "../harness/repository-files.ts";
import { type Started, startProcess } from "../harness/start-process.ts";
import { deployments } from "./deployments/family.ts";
import { controllersBeside } from "./families.ts";
import { jobs } from "./jobs/family.ts";

const namespace = "workload-controllers";
const [cluster, redis] = await Promise.all([
  startClusterWithFakeNodes({
    controllers: [...controllersBeside(deployments, jobs), "-cronjob-controller"],
  }),
  startRedis({ persistence: false }),
]);
afterAll(() => Promise.all([cluster.stop(), redis.stop()]));
const folder = folderOfFile();

const run = promisify(execFile);
const kubectl = async (...words: string[]): Promise<string> =>
  (await run(cluster.kubectl, words)).stdout.trim();
async function apply(object: object): Promise<void> {
  const applying = run(cluster.kubectl, ["apply", "-f", "-"]);
  applying.child.stdin?.end(JSON.stringify(object));
  await applying;
}
const soon = { timeout: 60_000, interval: 100 };

await kubectl("apply", "-f", join(root, "apps/bridge/deploy/crd.yaml"));
// The API server serves the kind a moment later.
const manifests = join(root, "apps/controller-manager/deploy/controller-manager.yaml");
await vi.waitFor(() => kubectl("apply", "-f", manifests), soon);
const bridge = await startProcess({
  main: "apps/bridge/src/main.ts",
  name: "bridge",
  logFile: join(folder, "bridge.log"),
  env: { DROVER_REDIS_URL: redis.url, DROVER_KUBECONFIG: cluster.kubeconfig, DROVER_AUTHORS: "trusted" },
});
afterAll(() => bridge.stop());
const kubeconfig = await cluster.kubeconfigOfAccount(namespace, "controller-manager");

let manager: Started | undefined;
afterEach(async () => {
  await manager?.stop();
  manager = undefined;
});
/** Makes the Redis user of the process, with the queues of these functions. */
const grantQueues = (names: readonly string[]) => {
  const controllers = names.map((name) => `${namespace}/${name}/*`);
  const rules = redisUserRules({ role: "function", controllers }).split(" ");
  return redisRequest(redis.port, ["ACL", "SETUSER", "manager", ...rules, ">pass"]);
};
const startManager = async (): Promise<Started> =>
  (manager = await startProcess({
    main: "apps/controller-manager/src/main.ts",
    args: ["--controllers=*,-cronjob"],
    name: "controller-manager",
    logFile: join(folder, "manager.log"),
    awaited: "Taking keys",
    times: 3,
    env: {
      DROVER_REDIS_URL: redis.url.replace("redis://", "redis://manager:pass@"),
      DROVER_KUBECONFIG: kubeconfig,
      DROVER_FUNCTIONS_IN: namespace,
    },
  }));
const read = async (path: string): Promise<string> => (await fetch(`${manager?.url ?? ""}${path}`)).text();

const template = (annotations: object, spec: object = {}) => ({
  metadata: { labels: { app: "it" }, annotations },
  spec: { containers: [{ name: "main", image: "img" }], ...spec },
});
const deploymentNamed = (name: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: { replicas: 2, selector: { matchLabels: { app: "it" } }, template: template({}) },
});
const jobNamed = (name: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: { template: template({ [fateAnnotation]: "succeeds" }, { restartPolicy: "Never" }) },
});
const rolledOut = (name: string) => kubectl("rollout", "status", `deployment/${name}`, "--timeout=60s");
const completed = (name: string) =>
  kubectl("wait", "--for=condition=Complete", `job/${name}`, "--timeout=60s");

it("runs a Deployment and a Job to their ends, leaves CronJobs alone, and stops cleanly", async () => {
  await grantQueues(["deployment", "replicaset", "job"]);
  await startManager();
  await apply({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick", namespace: "default" },
    spec: { schedule: "* * * * *", jobTemplate: { spec: jobNamed("tick").spec } },
  });
  await apply(deploymentNamed("web"));
  await apply(jobNamed("once"));
  await Promise.all([rolledOut("web"), completed("once")]);
  expect(await read("/readyz")).toBe("ok\n");
  const metrics = await read("/metrics");
  const of = (metric: string): readonly string[] => [
    ...new Set(
      [...metrics.matchAll(new RegExp(`^${metric}{controller="([^"]+)"`, "gm"))].map(([, name]) => name!),
    ),
  ];
  const three = ["deployment", "job", "replicaset"].map((name) => `${namespace}/${name}`);
  expect(of("drover_queue_keys").toSorted()).toEqual(three);
  expect(of("drover_runs_total").toSorted()).toEqual(three);
  expect(await kubectl("get", "cronjob/tick", "-o", "jsonpath={.status}")).toBe("{}");

  const ended = manager!.exited;
  manager!.kill("SIGTERM");
  expect(await ended).toMatchObject({ code: 0 });
}, 300_000);

it("a function without its queue, or without its permissions, waits; the others run, and it gets none of theirs", async () => {
  await grantQueues(["deployment", "replicaset"]);
  const binding = ["clusterrolebinding", `${namespace}:replicaset`];
  const kept = await kubectl("get", ...binding, "-o", "json");
  await kubectl("delete", ...binding);
  await startManager();
  await apply(deploymentNamed("web2"));
  await apply(jobNamed("second"));
  // The Deployment's function makes the set. Its pods need the permissions of the ReplicaSet's: no other's are used.
  const setOf = () =>
    kubectl("get", "replicasets", "-o", "jsonpath={.items[*].metadata.ownerReferences[0].name}");
  await vi.waitFor(async () => expect(await setOf()).toContain("web2"), soon);
  const failing = `drover_queue_keys{controller="${namespace}/replicaset",state="failing"} `;
  await vi.waitFor(async () => expect(await read("/metrics")).toMatch(new RegExp(`${failing}[1-9]`)), soon);
  const refused = (name: string) => new RegExp(`"hosted":"${name}".*Redis does not permit this`);
  const log = () => readFileSync(join(folder, "manager.log"), "utf8");
  await vi.waitFor(() => expect(log()).toMatch(refused("job")), soon);
  expect(log()).not.toMatch(refused("deployment"));

  await grantQueues(["deployment", "replicaset", "job"]);
  const { metadata, ...rest } = JSON.parse(kept) as { metadata: { name: string } };
  await apply({ ...rest, metadata: { name: metadata.name } });
  await Promise.all([rolledOut("web2"), completed("second")]);
}, 300_000);
