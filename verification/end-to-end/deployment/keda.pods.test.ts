import { ReconcileFunction } from "@drover/controller";
import { freePort } from "@drover/local-servers";
import { type FakeNodeCluster, type Keda, startClusterWithFakeNodes, startKeda } from "@drover/real-cluster";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { core, namespaceNamed, object } from "../../harness/manifests.ts";
import { root } from "../../harness/repository-files.ts";
import { holdOf, Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import { type DeployedWorld, startDeployedWorld } from "../stage/deployed-world.ts";
import { realCluster, realClusterArgs } from "../stage/test-cluster.ts";
import { conditionOf, eventually, isGone, isReady, startWorld } from "../stage/world.ts";

// KEDA itself, which is built first: that takes minutes, once. Drover's rights are those of its manifests.

let real: FakeNodeCluster;
let world: DeployedWorld;
let keda: Keda;

beforeAll(async () => {
  const starting = startWorld(undefined, async (folder) => {
    real = await startClusterWithFakeNodes({
      nodes: 0,
      // The node is one of processes: it has no heartbeats, and no tokens to mount.
      controllers: ["*", "-node-lifecycle-controller"],
      apiServerArgs: [...realClusterArgs, "--disable-admission-plugins=ServiceAccount"],
      // Otherwise 15 s.
      controllerManagerArgs: ["--horizontal-pod-autoscaler-sync-period=1s"],
      aggregation: true,
    });
    return realCluster(folder, real);
  });
  const { cluster } = await starting;
  await cluster.apply(namespaceNamed("drover"));
  const rights = ["rbac", "keda"].flatMap((name) => ["-f", join(root, `apps/deployer/deploy/${name}.yaml`)]);
  await kubectl("apply", ...rights);
  keda = await startKeda(real, { log: (line) => console.log(line) });
  const port = await freePort();
  world = await startDeployedWorld(
    { "tasks:1": { command: tasksCommand } },
    {
      DROVER_KUBECONFIG: await cluster.kubeconfigOfAccount("drover", "deployer"),
      DROVER_HTTP_PORT: String(port),
      DROVER_SCALING_URL: `http://127.0.0.1:${port}`,
      DROVER_METRICS_AUTH: "kubernetes",
    },
    starting,
  );
  await world.define(Task);
}, 3_600_000);
afterAll(async () => {
  await keda.stop();
  await world.stop();
});

const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(real.kubectl, args)).stdout;

const ofKeda = (kind: string, name: string, spec?: object) =>
  object({ apiVersion: "keda.sh/v1alpha1", kind }, name, spec);
const scaledObject = ofKeda("ScaledObject", "tasks");
const autoscaler = (name = "keda-hpa-tasks") =>
  object({ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" }, name);
const names = ["a", "b", "c", "d", "e", "f"];

/** Objects of KEDA are read with kubectl: their conditions may have no reason, which the world requires. */
async function read({ kind, metadata: { name } }: Parameters<typeof world.cluster.get>[0]): Promise<unknown> {
  const text = await kubectl("get", kind, name, "--ignore-not-found", "--output=json");
  return text === "" ? undefined : JSON.parse(text);
}
const statusSchema = z.looseObject({ status: z.looseObject({ conditions: z.unknown() }).optional() });

/** `Type=Status` of conditions of KEDA or of a HorizontalPodAutoscaler, each with its reason. */
async function conditions(of: Parameters<typeof world.cluster.get>[0]): Promise<Record<string, string>> {
  const { status } = statusSchema.parse(await read(of));
  const all = z
    .array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string().default("") }))
    .parse(status?.conditions ?? []);
  return Object.fromEntries(all.map(({ type, status, reason }) => [type, `${status} ${reason}`.trim()]));
}

const manifest = () =>
  tasksFunction(
    { image: "tasks:1", journal: join(world.folder, "journal") },
    // A run that is held takes longer than the usual limit.
    { timeout: "10m", scaling: { max: 3, targetDue: 2, idleAfter: "1s", by: "KEDA" } },
  );
const hold = () => writeFileSync(holdOf(join(world.folder, "journal")), "");
const release = () => rmSync(holdOf(join(world.folder, "journal")), { force: true });

const functionSchema = z.looseObject({
  metadata: z.looseObject({ generation: z.number() }),
  spec: z.looseObject({ scaling: z.looseObject({ replicas: z.number().optional() }) }),
});
const deployed = async () =>
  functionSchema.parse(await world.cluster.get(object(ReconcileFunction, "tasks")));

/** Failed requests of KEDA for the figure of a ScaledObject, since it began. */
async function failures(name: string): Promise<number> {
  const lines = (await keda.metrics()).split("\n");
  const counts = lines.filter(
    (line) => line.startsWith("keda_scaled_object_errors_total{") && line.includes(`scaledObject="${name}"`),
  );
  return counts.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
const expectFailures = (name: string, least: number): Promise<void> =>
  eventually(async () => expect(await failures(name)).toBeGreaterThanOrEqual(least));

const isAtRest = async (): Promise<void> => {
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
  await eventually(async () => expect((await deployed()).spec.scaling.replicas ?? 0).toBe(0));
};

it("a ScaledObject that Drover makes scales a function from zero to three Pods, and back", async () => {
  await world.cluster.apply(manifest());
  // Its container is tried by one Pod, which goes again.
  await world.until(manifest(), (one) => conditionOf(one)?.reason === "ScaledToZero");
  await isAtRest();
  hold();
  await Promise.all(names.map((name) => world.cluster.apply(task(name, 1))));
  await eventually(async () => expect(await world.pods("tasks")).toHaveLength(3));
  expect((await deployed()).spec.scaling.replicas).toBe(3);
  await eventually(async () => {
    expect(await conditions(scaledObject)).toMatchObject({
      Ready: "True ScaledObjectReady",
      Active: "True ScalerActive",
    });
    expect(await conditions(autoscaler())).toMatchObject({ ScalingActive: "True ValidMetricFound" });
    expect(await read(autoscaler())).toMatchObject({ status: { currentReplicas: 3, desiredReplicas: 3 } });
  });
}, 240_000);

it("a token that may not read the figure scales nothing; that of the function would", async () => {
  const scaled = z
    .looseObject({ spec: z.looseObject({ triggers: z.array(z.looseObject({})) }) })
    .parse(await read(scaledObject));
  const [trigger] = scaled.spec.triggers;
  await kubectl("create", "serviceaccount", "stranger");
  await world.cluster.apply({
    ...core("Secret", "stranger", { type: "kubernetes.io/service-account-token" }),
    metadata: {
      name: "stranger",
      namespace: "default",
      annotations: { "kubernetes.io/service-account.name": "stranger" },
    },
  });
  const secretTargetRef = [{ parameter: "token", name: "stranger", key: "token" }];
  await world.cluster.apply(ofKeda("TriggerAuthentication", "stranger", { secretTargetRef }));
  await kubectl("create", "deployment", "stranger", "--image=none", "--replicas=0");
  const asking = (name: string) =>
    ofKeda("ScaledObject", "stranger", {
      ...scaled.spec,
      scaleTargetRef: { name: "stranger" },
      triggers: [{ ...trigger, authenticationRef: { name } }],
    });
  const replicas = () => kubectl("get", "deployment", "stranger", "-o", "jsonpath={.spec.replicas}");
  await world.cluster.apply(asking("stranger"));
  await expectFailures("stranger", 4);
  await eventually(async () =>
    expect(await conditions(asking("stranger"))).toMatchObject({ Ready: "False TriggerError" }),
  );
  expect(await replicas()).toBe("0");
  await world.cluster.apply(asking("tasks-scaling"));
  await eventually(async () => expect(await replicas()).not.toBe("0"));
  await kubectl("delete", "scaledobject,triggerauthentication,deployment,secret", "stranger");
}, 240_000);

it("while Redis is away, the number of Pods stays as it is", async () => {
  const before = await deployed();
  const answers = () =>
    readFileSync(world.deployer.logFile, "utf8").split("The number of Pods stays").length - 1;
  await world.redis.kill();
  // Far longer than the cooldown of a second. Each answer waits for Redis, and is reused for a second.
  await eventually(() => expect(answers()).toBeGreaterThan(8));
  // A kubelet asks this: a Service leads to no Pod that is not ready.
  expect((await fetch(`${world.deployer.url}/readyz`)).status).toBe(200);
  expect(await conditions(scaledObject)).toMatchObject({
    Ready: "True ScaledObjectReady",
    Active: "True ScalerActive",
  });
  expect(await conditions(autoscaler())).toMatchObject({ ScalingActive: "True ValidMetricFound" });
  expect(await world.pods("tasks")).toHaveLength(3);
  // Each write of a number would be a new generation.
  expect((await deployed()).metadata.generation).toBe(before.metadata.generation);
  await world.redis.restart();
  await eventually(async () =>
    expect(await conditions(scaledObject)).toMatchObject({ Active: "True ScalerActive" }),
  );
}, 240_000);

it("a token is withdrawn by deleting its Secret: the deployer makes another, and KEDA reads it", async () => {
  const uid = async () => (await world.cluster.get(core("Secret", "tasks-scaling")))?.metadata.uid;
  const before = await uid();
  const encoded = await kubectl("get", "secret", "tasks-scaling", "-o", "jsonpath={.data.token}");
  const authorization = `Bearer ${Buffer.from(encoded, "base64").toString()}`;
  const url = `${world.deployer.url}/scaling/default/tasks`;
  const answer = async () => (await fetch(url, { headers: { authorization } })).status;
  expect(await answer()).toBe(200);
  await kubectl("delete", "secret", "tasks-scaling");
  await eventually(async () => expect([before, undefined]).not.toContain(await uid()));
  await eventually(async () => expect(await answer()).toBe(401));
  // KEDA reads the other one: it has no error to report.
  await eventually(async () =>
    expect(await conditions(scaledObject)).toMatchObject({
      Ready: "True ScaledObjectReady",
      Active: "True ScalerActive",
    }),
  );
}, 240_000);

it("without keys KEDA writes zero, and the last Pod ends", async () => {
  release();
  await Promise.all(names.map((name) => world.until(task(name, 1), isReady)));
  await isAtRest();
  await eventually(async () => {
    expect(await conditions(scaledObject)).toMatchObject({ Active: "False ScalerNotActive" });
    expect(await conditions(autoscaler())).toMatchObject({ ScalingActive: "False ScalingDisabled" });
  });
}, 240_000);

it("a deleted function leaves none of KEDA's objects, and nothing of its own for KEDA", async () => {
  const scaling = (apiVersion: string, kind: string) => object({ apiVersion, kind }, "tasks-scaling");
  const objects = [
    scaledObject,
    autoscaler(),
    ofKeda("TriggerAuthentication", "tasks-scaling"),
    ...["ServiceAccount", "Secret"].map((kind) => scaling("v1", kind)),
    ...["Role", "RoleBinding"].map((kind) => scaling("rbac.authorization.k8s.io/v1", kind)),
  ];
  for (const one of objects) expect(await read(one)).toBeDefined();
  await world.cluster.remove(manifest());
  await world.until(manifest(), isGone);
  for (const one of objects) await eventually(async () => expect(await read(one)).toBeUndefined());
}, 240_000);
