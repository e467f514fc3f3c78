// The sandbox serves no EndpointSlices: these tests run on a real API server, without other controllers.
import type { Manifest, TestCluster } from "@drover/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { onRealCluster } from "../../job/src/testing/real-cluster.ts";
import { controllerName, type EndpointSlice, endpointSliceSchema } from "./endpoint-slice.ts";
import { endpointSliceController } from "./endpoint-slice-controller.ts";
import deployedAs from "./function.ts";
import {
  node,
  nodes,
  pod,
  pods,
  service,
  services,
  slices,
  withAddress,
  writePod,
} from "./testing/services.ts";

const open = onRealCluster([slices, services, pods, nodes]);
let cluster: TestCluster;
beforeEach(async () => {
  cluster = await open(({ now }) => endpointSliceController({ now, maxEndpointsPerSlice: 3 }), deployedAs);
  await cluster.apply(node("node-a", "zone-1"));
});

async function given(...manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) await cluster.apply(manifest);
  await cluster.advance("10ms");
}
async function givenPods(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await cluster.apply(pod(name));
    await writePod(cluster, name, withAddress([`10.0.0.${Number(name.slice(1))}`]));
  }
  await cluster.advance("10ms");
}
const slicesNow = async (): Promise<readonly EndpointSlice[]> =>
  (await cluster.list(slices))
    .filter(({ metadata }) => metadata.name !== "kubernetes")
    .map((slice) => endpointSliceSchema.parse(slice));
const addresses = (all: readonly EndpointSlice[]) =>
  all.map(({ endpoints }) => endpoints.map((endpoint) => endpoint.addresses.join()).sort()).sort();

it("publishes the addresses, states, nodes and zones of a Service's pods", async () => {
  await given(service({}, { labels: { team: "a" } }));
  expect(await slicesNow()).toMatchObject([{ endpoints: [], ports: [], addressType: "IPv4" }]);
  await givenPods("p1");
  const [slice] = await slicesNow();
  const p1 = await cluster.get(pods, "p1");
  const owner = await cluster.get(services, "web");
  expect(slice).toMatchObject({
    metadata: {
      generateName: "web-",
      labels: {
        team: "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": controllerName,
      },
      annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:10Z" },
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "Service",
          name: "web",
          uid: owner?.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints: [
      {
        addresses: ["10.0.0.1"],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: "node-a",
        zone: "zone-1",
        targetRef: { kind: "Pod", namespace: "default", name: "p1", uid: p1?.metadata.uid },
      },
    ],
  });
  await writePod(cluster, "p1", withAddress(["10.0.0.1"], false, "2026-01-01T00:00:20Z"));
  await cluster.advance("10ms");
  const [unready, ...others] = await slicesNow();
  expect(others).toEqual([]);
  expect(unready?.endpoints).toMatchObject([{ conditions: { ready: false, serving: false } }]);
  expect(unready?.metadata.annotations).toEqual({
    "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:20Z",
  });
});

it("fills slices as few writes allow, and removes those that have become empty", async () => {
  await given(service());
  await givenPods("p1", "p2", "p3", "p4");
  expect(addresses(await slicesNow())).toEqual([["10.0.0.1", "10.0.0.2", "10.0.0.3"], ["10.0.0.4"]]);
  for (const name of ["p1", "p2", "p3"])
    await cluster.patch(pods, name, { metadata: { labels: { app: "other" } } });
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([["10.0.0.4"]]);
});

it("has slices for each set of ports", async () => {
  const named = (port: number) => ({
    containers: [{ name: "web", image: "web:1", ports: [{ name: "http", containerPort: port }] }],
  });
  await given(
    service({ ports: [{ name: "http", port: 80, targetPort: "http" }] }),
    pod("p1", named(8080)),
    pod("p2", named(9090)),
    pod("p3"),
  );
  for (const [i, name] of ["p1", "p2", "p3"].entries())
    await writePod(cluster, name, withAddress([`10.0.0.${i + 1}`]));
  await cluster.advance("10ms");
  const found = (await slicesNow()).map(({ ports, endpoints }) => [
    ports.map(({ port }) => port).join(),
    endpoints.map(({ addresses: [ip] }) => ip).join(),
  ]);
  expect(found.sort()).toEqual([
    ["", "10.0.0.3"],
    ["8080", "10.0.0.1"],
    ["9090", "10.0.0.2"],
  ]);
});

it("keeps a terminating pod until it has ended, and never as ready", async () => {
  await given(service());
  await givenPods("p1");
  await cluster.patch(pods, "p1", { metadata: { finalizers: ["example.com/hold"] } });
  await cluster.delete(pods, "p1");
  await cluster.advance("10ms");
  expect((await slicesNow())[0]?.endpoints).toMatchObject([
    { conditions: { ready: false, serving: true, terminating: true } },
  ]);
  await writePod(cluster, "p1", { phase: "Succeeded" });
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([[]]);
});

it("follows pods that cease to match, and Services that select others", async () => {
  await given(service());
  await givenPods("p1", "p2");
  await cluster.patch(pods, "p1", { metadata: { labels: { app: "other" } } });
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([["10.0.0.2"]]);
  await cluster.patch(services, "web", { spec: { selector: { app: "other" } } });
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([["10.0.0.1"]]);
});

it("skips a pod whose node does not exist, says so, and tries again", async () => {
  await given(service(), pod("p1", { nodeName: "node-b" }));
  await writePod(cluster, "p1", withAddress(["10.0.0.1"]));
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([[]]);
  expect(cluster.announcements.map(({ reason, note }) => [reason, note])).toEqual([
    [
      "FailedToUpdateEndpointSlices",
      "Error updating Endpoint Slices for Service default/web: skipping Pod p1 for Service default/web: Node node-b Not Found",
    ],
  ]);
  await cluster.apply(node("node-b", "zone-2"));
  await cluster.advance("2s");
  expect((await slicesNow())[0]?.endpoints).toMatchObject([{ zone: "zone-2" }]);
});

it("repairs slices that a user has changed or deleted, and leaves those of others alone", async () => {
  const foreign = {
    ...slices,
    metadata: { name: "foreign", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.9.9.9"] }],
  };
  await given(service(), foreign);
  await givenPods("p1");
  const own = async () => (await slicesNow()).filter(({ metadata }) => metadata.name !== "foreign");
  const name = (await own())[0]?.metadata.name ?? "";
  await cluster.patch(slices, name, { endpoints: [{ addresses: ["10.9.9.9"] }] });
  await cluster.advance("10ms");
  expect(addresses(await own())).toEqual([["10.0.0.1"]]);
  await cluster.delete(slices, name);
  await cluster.advance("10ms");
  expect(addresses(await own())).toEqual([["10.0.0.1"]]);
  expect(addresses((await slicesNow()).filter(({ metadata }) => metadata.name === "foreign"))).toEqual([
    ["10.9.9.9"],
  ]);
});

describe.each([
  ["that was made for its pods", true],
  ["that was made before its pods", false],
])("of a Service whose slice, %s, is taken away", (_which, isForPods) => {
  async function givenSlice(): Promise<string> {
    if (isForPods) await givenPods("p1");
    await given(service());
    if (!isForPods) await givenPods("p1");
    const [slice, ...others] = await slicesNow();
    expect(others).toEqual([]);
    return slice?.metadata.name ?? "";
  }

  it.each([
    ["the controller", { "endpointslice.kubernetes.io/managed-by": "other-controller" }],
    ["the Service", { "kubernetes.io/service-name": "other" }],
  ])("another one is made, if the label with the name of %s has changed", async (_of, labels) => {
    await cluster.patch(slices, await givenSlice(), { metadata: { labels } });
    await cluster.advance("10ms");
    expect(addresses(await slicesNow())).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
  });

  it("another one is made, if a finalizer keeps it", async () => {
    const name = await givenSlice();
    await cluster.patch(slices, name, { metadata: { finalizers: ["example.com/kept"] } });
    await cluster.delete(slices, name);
    await cluster.advance("10ms");
    expect(addresses(await slicesNow())).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
    await cluster.patch(slices, name, { metadata: { finalizers: null } });
  });
});

it("has slices of both address types, with hostnames, and pods that are not ready if they are published", async () => {
  await given(
    service({ clusterIP: "None", ipFamilyPolicy: "RequireDualStack", publishNotReadyAddresses: true }),
    pod("p1", { hostname: "first", subdomain: "web" }),
  );
  await writePod(cluster, "p1", withAddress(["10.0.0.1", "fd00::0:1"], false));
  await cluster.advance("10ms");
  const found = await slicesNow();
  expect(found.map(({ addressType }) => addressType).sort()).toEqual(["IPv4", "IPv6"]);
  for (const { metadata, endpoints } of found) {
    expect(metadata.labels).toHaveProperty(["service.kubernetes.io/headless"], "");
    expect(endpoints).toMatchObject([{ hostname: "first", conditions: { ready: true, serving: false } }]);
  }
  expect(addresses(found)).toEqual([["10.0.0.1"], ["fd00::1"]]);
  await cluster.patch(services, "web", { spec: { ipFamilyPolicy: "SingleStack" } });
  await cluster.advance("10ms");
  expect(addresses(await slicesNow())).toEqual([["10.0.0.1"]]);
});

it("gives zones endpoints in proportion to their processors, if the Service asks for it", async () => {
  const writeNode = (name: string, cpu: string): Promise<unknown> =>
    cluster.writeStatus({
      ...nodes,
      metadata: { name },
      status: { allocatable: { cpu }, conditions: [{ type: "Ready", status: "True" }] },
    });
  await cluster.apply(node("node-b", "zone-2"));
  await writeNode("node-a", "2");
  await writeNode("node-b", "2000m");
  await given(service({}, { annotations: { "service.kubernetes.io/topology-mode": "Auto" } }));
  await givenPods("p1", "p2", "p3", "p4");
  const hinted = async (): Promise<readonly string[]> =>
    (await slicesNow())
      .flatMap(({ endpoints }) =>
        endpoints.map(({ hints }) => hints?.forZones?.map(({ name }) => name).join() ?? ""),
      )
      .sort();
  expect(await hinted()).toEqual(["zone-1", "zone-1", "zone-2", "zone-2"]);
  expect(cluster.announcements.map(({ reason, note }) => `${reason}: ${note}`)).toEqual([
    "TopologyAwareHintsDisabled: Insufficient number of endpoints (0 endpoints, 2 zones), addressType: IPv4",
    "TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4",
  ]);
  await writeNode("node-b", "0");
  await cluster.advance("1m");
  expect(await hinted()).toEqual(["", "", "", ""]);
  await cluster.patch(services, "web", {
    metadata: { annotations: { "service.kubernetes.io/topology-mode": null } },
    spec: { trafficDistribution: "PreferSameZone" },
  });
  await cluster.advance("10ms");
  expect(await hinted()).toEqual(["zone-1", "zone-1", "zone-1", "zone-1"]);
});
