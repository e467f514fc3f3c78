import { objectKey } from "@drover/controller";
import { type RealCluster, startRealCluster } from "@drover/real-cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyContract } from "./apply.contract.ts";
import type { KubeClient, WriteOutcome } from "./client.ts";
import { connect } from "./connect.ts";
import { installCrd } from "./install-crd.ts";
import { managedFieldsOf } from "../objects/managed-fields.ts";
import { builtin } from "../objects/resource-ref.ts";
import { bucketDefinition } from "../testing/sandbox-client.ts";

let cluster: RealCluster;
let client: KubeClient;
beforeAll(async () => {
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig });
  await installCrd(client, bucketDefinition);
}, 900_000);
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

describe("against a real API server", () => applyContract(() => client));

const metadata = { name: "web", namespace: "default" };
const labels = { app: "web" };
const container = { name: "web", image: "web:1", ports: [{ containerPort: 80 }] };
const deployment = {
  metadata,
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  },
};

test("an applied scale sets the replicas, which then belong to its manager", async () => {
  const as = (fieldManager: string, report?: (outcome: WriteOutcome) => void) =>
    client.guarded({
      beforeWrite: () => undefined,
      fieldManager,
      ...(report && { observeWrite: () => report }),
    });
  await as("author").apply(builtin.deployment, deployment);
  const reported: WriteOutcome[] = [];
  const scaler = as("scaler", (outcome) => void reported.push(outcome));
  const scale = { metadata, spec: { replicas: 3 } };
  // The server has set one replica, the default, which counts as set before the first apply: this takes it.
  const applied = scaler.apply(builtin.deployment, scale, { subresource: "scale", force: true });
  expect(await applied).toMatchObject({ kind: "Scale", spec: { replicas: 3 } });
  expect(reported).toEqual(["unknown"]); // The Deployment after it is not in the reply.
  await as("author").apply(builtin.deployment, deployment);
  const scaled = await client.get(builtin.deployment, objectKey(metadata));
  expect(scaled).toMatchObject({ spec: { replicas: 3 } });
  const owners = managedFieldsOf(scaled ?? expect.fail()).filter(({ fields }) =>
    fields.has(".spec.replicas"),
  );
  expect(owners).toMatchObject([{ manager: "scaler", subresource: "scale", operation: "Apply" }]);
  const fields = managedFieldsOf(scaled ?? expect.fail()).find(({ manager }) => manager === "author")?.fields;
  expect([...(fields ?? [])].sort()).toEqual([
    ".spec.selector",
    ".spec.template.metadata.labels.app",
    '.spec.template.spec.containers[name="web"]',
    '.spec.template.spec.containers[name="web"].image',
    '.spec.template.spec.containers[name="web"].name',
    '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
    '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort',
  ]);
});
