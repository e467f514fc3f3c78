import { testCluster, type TestCluster, testFaults } from "drover/testing";
import { expect, test } from "vitest";
import exposed from "./exposed-deployments.faults.ts";
import { exposedDeployments } from "./exposed-deployments.ts";

const kinds = {
  deployment: { apiVersion: "apps/v1", kind: "Deployment" },
  service: { apiVersion: "v1", kind: "Service" },
};
const labels = { app: "shop" };
const deployment = (port?: string) => ({
  ...kinds.deployment,
  metadata: { name: "shop", labels: port === undefined ? labels : { ...labels, "example.com/expose": port } },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
});
const service = (cluster: TestCluster) => cluster.get(kinds.service, "shop");

test("a Deployment with the label gets a Service, and loses it with the label", async () => {
  await using cluster = await testCluster(() => exposedDeployments);
  await cluster.apply(deployment("8080"));
  await cluster.runUntilIdle();
  expect(await service(cluster)).toMatchObject({ spec: { selector: labels, ports: [{ port: 8080 }] } });
  await cluster.apply(deployment("9090"));
  await cluster.runUntilIdle();
  expect(await service(cluster)).toMatchObject({ spec: { ports: [{ port: 9090 }] } });
  await cluster.apply(deployment());
  await cluster.runUntilIdle();
  expect(await service(cluster)).toBeUndefined();
});

test("a Deployment without the label is not touched, and no status is written", async () => {
  await using cluster = await testCluster(() => exposedDeployments);
  const before = await cluster.apply(deployment());
  await cluster.runUntilIdle();
  expect(await cluster.get(kinds.deployment, "shop")).toEqual(before);
  await cluster.apply(deployment("8080"));
  await cluster.runUntilIdle();
  const after = await cluster.get(kinds.deployment, "shop");
  expect(after).not.toHaveProperty("status.conditions");
  expect(after?.metadata).not.toHaveProperty("finalizers");
});

test("a Deployment that is deleted takes its Service with it", async () => {
  await using cluster = await testCluster(() => exposedDeployments);
  await cluster.apply(deployment("8080"));
  await cluster.runUntilIdle();
  await cluster.delete(kinds.deployment, "shop");
  await cluster.runUntilIdle();
  expect([await cluster.get(kinds.deployment, "shop"), await service(cluster)]).toEqual([
    undefined,
    undefined,
  ]);
});

test("a label that is no port ends the run until it changes, and leaves the Service", async () => {
  await using cluster = await testCluster(() => exposedDeployments);
  await cluster.apply(deployment("8080"));
  await cluster.runUntilIdle();
  await cluster.apply(deployment("http"));
  await cluster.runUntilIdle();
  expect(await service(cluster)).toMatchObject({ spec: { ports: [{ port: 8080 }] } });
  await cluster.apply(deployment("9090"));
  await cluster.runUntilIdle();
  expect(await service(cluster)).toMatchObject({ spec: { ports: [{ port: 9090 }] } });
});

test("whatever goes wrong, the Services are the same", async () => {
  const { plans, problems } = await testFaults(exposed);
  expect(problems).toEqual([]);
  expect(plans.length).toBeGreaterThan(10);
  expect(plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
