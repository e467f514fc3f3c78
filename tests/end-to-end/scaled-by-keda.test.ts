import { customResourceDefinition, reconcileFunctionOf } from "@drover/controller";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DeployedWorld, startDeployedWorld } from "./deployed-world.ts";
import { Task, taskController } from "./tasks.ts";
import { eventually, isReady } from "./world.ts";

const main = new URL("tasks.ts", import.meta.url).pathname;
let world: DeployedWorld;
beforeAll(async () => {
  world = await startDeployedWorld(
    { "tasks:1": { command: [process.execPath, main] } },
    { DROVER_SCALING_URL: "http://deployer.drover:8080" },
  );
  await world.cluster.apply({ ...customResourceDefinition(Task) });
  await world.cluster.apply(scaledObjects);
});
afterAll(() => world.stop());

/** As much of KEDA's kind as it takes to keep an object of it. */
const scaledObjects = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "scaledobjects.keda.sh" },
  spec: {
    group: "keda.sh",
    scope: "Namespaced",
    names: {
      plural: "scaledobjects",
      singular: "scaledobject",
      kind: "ScaledObject",
      listKind: "ScaledObjectList",
    },
    versions: [
      {
        ...{ name: "v1alpha1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const scaledObject = {
  ...{ apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject" },
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
  const figure = async (): Promise<unknown> => (await fetch(`${deployer.url}/scaling/default/tasks`)).json();
  const task = (name: string) => ({
    ...{ apiVersion: "example.com/v1", kind: "Task", spec: { ms: 1 } },
    metadata: { name, namespace: "default" },
  });

  await cluster.apply(deployed({}));
  await eventually(async () => {
    expect(await cluster.get(scaledObject)).toMatchObject({
      spec: {
        scaleTargetRef: { kind: "ReconcileFunction", name: "tasks" },
        ...{ minReplicaCount: 0, maxReplicaCount: 3, cooldownPeriod: 90 },
        triggers: [
          { metadata: { url: "http://deployer.drover:8080/scaling/default/tasks", valueLocation: "wanted" } },
        ],
      },
    });
  });
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
  await eventually(async () => expect(await cluster.get(scaledObject)).toBeUndefined());
  expect((await fetch(`${deployer.url}/scaling/default/nobody`)).status).toBe(404);
}, 120_000);
