import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { customResourceDefinition, objectKey, ReconcileFunction } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { KubeClient } from "./client.ts";
import { connect } from "./connect.ts";
import { installCrd } from "./install-crd.ts";
import { refOf } from "../objects/resource-ref.ts";

let cluster: RealCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(client, { ...customResourceDefinition(ReconcileFunction) });
}, 900_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const scale = (name: string, replicas: number): Promise<string> =>
  promisify(execFile)(cluster.kubectl, ["scale", "reconcilefunction", name, `--replicas=${replicas}`]).then(
    ({ stdout }) => stdout,
    (error: unknown) => String(error),
  );

it("kubectl scale works for a function that KEDA scales, and is refused for others with advice", async () => {
  const target = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" };
  const ref = refOf(ReconcileFunction);
  const make = (name: string, scaling?: object) =>
    client.create(ref, {
      metadata: { name, namespace: "default" },
      spec: { for: target, ...(scaling && { scaling }) },
    });
  await make("usual");
  await make("own", { max: 3 });
  await make("keda", { by: "KEDA" });
  for (const name of ["usual", "own"])
    expect(await scale(name, 2)).toMatch(/set scaling.min and scaling.max instead/);
  expect(await scale("keda", 2)).toMatch(/scaled/);
  // The replicas that KEDA has left do not block other changes.
  const at = objectKey({ namespace: "default", name: "keda" });
  await client.patch(ref, at, { type: "merge", body: { spec: { scaling: { by: "Drover", max: 4 } } } });
  expect(await scale("keda", 3)).toMatch(/set scaling.min/);
  const left = await client.get(ref, at);
  expect(left?.["spec"]).toMatchObject({ scaling: { replicas: 2, max: 4 } });
  // Neither does the default, in an object that lacks them.
  const spec = { for: target, scaling: { max: 5 } };
  const replaced = await client.replace(ref, { metadata: left!.metadata, spec });
  expect(replaced["spec"]).toMatchObject({ scaling: { replicas: 0, max: 5 } });
});
