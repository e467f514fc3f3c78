import { join } from "node:path";
import { expect, it } from "vitest";
import { core, looseKind, object } from "../../harness/manifests.ts";
import { deployedWorldOfFile } from "../stage/deployed-world.ts";
import { Task, task, tasksCommand, tasksFunction } from "../functions/tasks.ts";
import { conditionOf, eventually, isReady } from "../stage/world.ts";

const isReal = process.env["DROVER_TEST_CLUSTER"] === "real";
const world = await deployedWorldOfFile(
  [Task],
  { "tasks:1": { command: tasksCommand } },
  // The sandbox reviews no senders.
  {
    DROVER_SCALING_URL: "http://deployer.drover:8080",
    DROVER_METRICS_AUTH: isReal ? "kubernetes" : "none",
  },
);
await world.cluster.apply(looseKind("keda.sh", "ScaledObject"));
await world.cluster.apply(looseKind("keda.sh", "TriggerAuthentication"));

const keda = (kind: string, name: string) => object({ apiVersion: "keda.sh/v1alpha1", kind }, name);
const authentication = keda("TriggerAuthentication", "tasks-scaling");
const scalingRole = object({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" }, "tasks-scaling");
const scaledObject = keda("ScaledObject", "tasks");

it("KEDA asks for the figure that Drover would use and its scale is applied; without KEDA the deployer scales from zero and back", async () => {
  const { cluster, folder, deployer } = world;
  const deployed = (scaling: object) =>
    tasksFunction(
      { image: "tasks:1", journal: join(folder, "journal") },
      { scaling: { max: 3, targetDue: 2, idleAfter: "90s", by: "KEDA", ...scaling } },
    );
  const ask = async (name: string, account = "tasks-scaling"): Promise<Response> => {
    const token = await cluster.tokenOf("default", account);
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    return fetch(`${deployer.url}/scaling/default/${name}`, { headers });
  };
  const figure = async (): Promise<unknown> => (await ask("tasks")).json();
  const expectReviewed = async (): Promise<void> => {
    await cluster.apply(core("ServiceAccount", "stranger"));
    expect((await fetch(`${deployer.url}/scaling/default/tasks`)).status).toBe(401);
    // Its Role is known to the API server a moment after it was written.
    await eventually(async () => expect((await ask("tasks")).status).toBe(200));
    expect((await ask("others")).status).toBe(403);
    expect((await ask("tasks", "stranger")).status).toBe(403);
  };

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
  // KEDA requests the scale first, which is an error as long as there is no such field.
  expect(await cluster.get(deployed({}))).toMatchObject({ spec: { scaling: { replicas: 0 } } });
  // KEDA sends the token of an account that may read this figure and nothing else.
  expect(await cluster.get(authentication)).toMatchObject({
    spec: { secretTargetRef: [{ parameter: "token", name: "tasks-scaling", key: "token" }] },
  });
  expect(await cluster.get(scalingRole)).toMatchObject({
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
  await Promise.all(["a", "b", "c"].map((name) => cluster.apply(task(name, 1))));
  await eventually(async () => expect(await figure()).toMatchObject({ wanted: 2, due: 3, running: 0 }));
  // Only KEDA creates Pods.
  expect(await world.pods("tasks")).toEqual([]);
  await cluster.apply(deployed({ replicas: 2 }));
  await Promise.all(["a", "b", "c"].map((name) => world.until(task(name, 1), isReady)));
  await eventually(async () => expect(await world.pods("tasks")).toHaveLength(2));
  await eventually(async () => expect(await figure()).toMatchObject({ wanted: 0, due: 0 }));
  await cluster.apply(deployed({ replicas: 0 }));
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));

  // The deployer scales it from here on: it goes to zero, comes with the first object, and goes again.
  const scaled = deployed({ by: "Drover", idleAfter: "1s" });
  await cluster.apply(scaled);
  for (const gone of [scaledObject, authentication, core("Secret", "tasks-scaling"), scalingRole])
    await eventually(async () => expect(await cluster.get(gone)).toBeUndefined());
  if (!isReal) expect((await ask("unknown")).status).toBe(404);
  await world.until(scaled, (object) => conditionOf(object)?.reason === "ScaledToZero");
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
  await world.applyReady(task("after", 1));
  expect(await world.pods("tasks")).toHaveLength(1);
  await eventually(async () => expect(await world.pods("tasks")).toEqual([]));
}, 120_000);
