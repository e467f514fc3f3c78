import { builtin } from "@drover/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  configMapKind,
  coreKind,
  testRegistration,
  openBridgeScene,
  type RunningBridge,
  type BridgeScene,
  until,
} from "../bridge-scene.fixture.ts";

let scene: BridgeScene;
beforeEach(async () => (scene = await openBridgeScene()));
afterEach(() => scene[Symbol.asyncDispose]());

const places = ({ bridge }: RunningBridge) =>
  bridge
    .followed()
    .map(
      ({ plan, reflector }) =>
        `${plan.ref.group}|${plan.ref.version}|${plan.ref.kind} ${reflector.status().degraded?.reason ?? ""}`,
    )
    .sort();

it("a wrong name of a kind has a stream of its own, apart from the right name", async () => {
  const apps = { ...coreKind("Deployment", "deployments"), group: "apps" } as const;
  const running = await scene.startBridge();
  running.bridge.register([
    testRegistration("collider", { for: { ...apps, group: "", version: "apps/v1" } }),
    testRegistration("otherwise", { for: { ...apps, scope: "Cluster" } }),
    testRegistration("victim", { for: apps }),
  ]);
  const labels = { a: "b" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "c" }] } };
  await scene.client.create(builtin.deployment, {
    metadata: { name: "d", namespace: "default" },
    spec: { selector: { matchLabels: labels }, template },
  });
  await scene.woken("victim", "d");
  await until(() => {
    const found = places(running);
    expect(found).toHaveLength(3);
    expect(found).toContain("apps|v1|Deployment ");
    expect(found).toContainEqual(expect.stringMatching(/^\|apps\/v1\|Deployment \w+/));
  });
});

it("only the declared namespaces are listed, unless a function declares none", async () => {
  const paths = new Set<string>();
  scene.sandbox.faults.respond(({ method, path }) => {
    if (method === "GET" && path.endsWith("/configmaps")) paths.add(path);
    return undefined;
  });
  const inNamespace = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
  const one = testRegistration("one", { for: { ...configMapKind, namespaces: ["default", "kube-system"] } });
  const two = testRegistration("two", { for: { ...configMapKind, namespaces: ["default"] } });
  await scene.put("m");
  const running = await scene.startFollowing([one, two], 2);
  await scene.woken("one", "m");
  await scene.woken("two", "m");
  expect([...paths].sort()).toEqual(["default", "kube-system"].map(inNamespace));
  running.bridge.register([one, two, testRegistration("three")]);
  await scene.woken("three", "m");
  expect([...paths].sort()).toEqual(["/api/v1/configmaps", ...["default", "kube-system"].map(inNamespace)]);
  expect(await scene.wakes("one", "m")).toBe(1);
});

it("lookups find objects in each declared namespace", async () => {
  const namespaces = ["another", "default"];
  const secrets = { ...coreKind("Secret", "secrets"), names: { all: true, acrossNamespaces: true } } as const;
  const one = testRegistration("one", { for: { ...configMapKind, namespaces }, watches: [secrets] });
  await scene.startFollowing([one], 3);
  await scene.put("m");
  await scene.woken("one", "m");
  await scene.put("s", {}, "secrets");
  await until(async () => expect(await scene.entry("one", "m")).toHaveProperty("version:secrets"));
});

it("a campaign includes the objects of all declared namespaces", async () => {
  await scene.put("m");
  const running = await scene.startBridge();
  const namespaces = ["default", "kube-system"];
  running.bridge.register([
    testRegistration("one", { for: { ...configMapKind, namespaces }, campaign: { name: "again" } }),
  ]);
  await until(() =>
    expect(running.bridge.campaigns().get("-/one/-")).toMatchObject({
      name: "again",
      state: "Running",
      total: 1,
    }),
  );
});
