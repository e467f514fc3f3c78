import { customResourceDefinition, reconcileFunctionOf } from "@drover/controller";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DeployedWorld, startDeployedWorld } from "../stage/deployed-world.ts";
import { Task, taskController } from "../functions/tasks.ts";
import { conditionOf, eventually, isReady } from "../stage/world.ts";

const main = new URL("../functions/tasks.ts", import.meta.url).pathname;
let world: DeployedWorld;
beforeAll(async () => {
  world = await startDeployedWorld(
    { "tasks:1": { command: [process.execPath, main] } },
    // The sandbox reviews no senders.
    {
      DROVER_SCALING_URL: "http://deployer.drover:8080",
      DROVER_METRICS_AUTH: isReal ? "kubernetes" : "none",
    },
  );
  await world.cluster.apply({ ...customResourceDefinition(Task) });
  await world.cluster.apply(kindOfKeda("ScaledObject"));
  await world.cluster.apply(kindOfKeda("TriggerAuthentication"));
});
afterAll(() => world.stop());

const isReal = process.env["DROVER_TEST_CLUSTER"] === "real";

/** As much of a kind of KEDA's as it takes to keep an object of it. */
const kindOfKeda = (kind: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.toLowerCase()}s.keda.sh` },
  spec: {
    group: "keda.sh",
    scope: "Namespaced",
    names: { plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});
const authentication = {
  apiVersion: "keda.sh/v1alpha1",
  kind: "TriggerAuthentication",
  metadata: { name: "tasks-scaling", namespace: "default" },
};
const roleNamed = (name: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name, namespace: "default" },
});
const scaledObject = {
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name: "tasks", namespace: "default" },
};

it("KEDA is told what to ask, is answered what Drover would do, and what it writes is done", async () => {
  const { cluster, folder, deployer } = world;
  const deployed = (scaling: object) => {
    const env = { DROVER_JOURNAL: join(folder, "journal"), DROVER_BY: "one" };
    const { metadata, ...rest } = reconcileFunctionOf(taskController("", ""), {
      container: { image: "tasks:1", env: Object.entries(env).map(([name, value]) => ({ name, value })) },
      scaling: { max: 3, targetDue: 2, idleAfter: "90s", by: "KEDA", ...scaling },
    });
    return { ...rest, metadata: { ...metadata, namespace: "default" } };
  };
  const ask = async (name: string, account = "tasks-scaling"): Promise<Response> => {
    const token = await cluster.tokenOf("default", account);
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    return fetch(`${deployer.url}/scaling/default/${name}`, { headers });
  };
  const figure = async (): Promise<unknown> => (await ask("tasks")).json();
  const expectReviewed = async (): Promise<void> => {
    await cluster.apply({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "stranger", namespace: "default" },
    });
    expect((await fetch(`${deployer.url}/scaling/default/tasks`)).status).toBe(401);
    // Its Role is known to the API server a moment after it was written.
    await eventually(async () => expect((await ask("tasks")).status).toBe(200));
    expect((await ask("others")).status).toBe(403);
    expect((await ask("tasks", "stranger")).status).toBe(403);
  };
  const task = (name: string) => ({
    apiVersion: "example.com/v1",
    kind: "Task",
    spec: { ms: 1 },
    metadata: { name, namespace: "default" },
  });

  await cluster.apply(deployed({}));
  await eventually(async () => {
    expect(await cluster.get(scaledObject)).toMatchObject({
      spec: {
        scaleTargetRef: { kind: "ReconcileFunction", name: "tasks" },
        minReplicaCount: 0,
        maxReplicaCount: 3,
        cooldownPeriod: 90,
        triggers: [
          {
            metadata: {
              url: "http://deployer.drover:8080/scaling/default/tasks",
              valueLocation: "wanted",
              authMode: "bearer",
            },
            authenticationRef: { name: "tasks-scaling" },
          },
        ],
      },
    });
  });
  // KEDA makes the token that it sends, of an account that may read this figure and nothing else.
  expect(await cluster.get(authentication)).toMatchObject({
    spec: { boundServiceAccountToken: [{ parameter: "token", serviceAccountName: "tasks-scaling" }] },
  });
  expect(await cluster.get(roleNamed("tasks-scaling-token"))).toMatchObject({
    rules: [
      {
        apiGroups: [""],
        resources: ["serviceaccounts/token"],
        verbs: ["create"],
        resourceNames: ["tasks-scaling"],
      },
    ],
  });
  expect(await cluster.get(roleNamed("tasks-scaling"))).toMatchObject({
    rules: [
      {
        apiGroups: ["drover.dev"],
        resources: ["reconcilefunctions/scale"],
        verbs: ["get"],
        resourceNames: ["tasks"],
      },
    ],
  });
  if (isReal) await expectReviewed();
  // Its container is tried by one Pod, which goes again.
  await world.until(deployed({}), (object) => conditionOf(object)?.reason === "ScaledToZero");
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
  await Promise.all(["a", "b", "c"].map((name) => cluster.apply(task(name))));
  await eventually(async () => expect(await figure()).toMatchObject({ wanted: 2, due: 3, running: 0 }));
  // Nobody but KEDA makes Pods.
  expect(await world.pods("tasks")).toEqual([]);
  await cluster.apply(deployed({ replicas: 2 }));
  await Promise.all(["a", "b", "c"].map((name) => world.until(task(name), isReady)));
  await eventually(async () => expect(await world.pods("tasks")).toHaveLength(2));
  await eventually(async () => expect(await figure()).toMatchObject({ wanted: 0, due: 0 }));
  await cluster.apply(deployed({ replicas: 0 }));
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));

  await cluster.apply(deployed({ by: "Drover" }));
  for (const gone of [
    scaledObject,
    authentication,
    roleNamed("tasks-scaling"),
    roleNamed("tasks-scaling-token"),
  ])
    await eventually(async () => expect(await cluster.get(gone)).toBeUndefined());
  if (!isReal) expect((await ask("nobody")).status).toBe(404);
}, 120_000);
