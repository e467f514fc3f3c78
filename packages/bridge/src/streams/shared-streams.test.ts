import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  configMapKind,
  coreKind,
  testRegistration,
  openBridgeScene,
  type RunningBridge,
  type BridgeScene,
} from "../bridge-scene.fixture.ts";

let scene: BridgeScene;
beforeEach(async () => (scene = await openBridgeScene()));
afterEach(() => scene[Symbol.asyncDispose]());

const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 30_000, interval: 20 });
const woken = (queue: string, name: string) =>
  until(async () => expect(await scene.wakes(queue, name)).toBeGreaterThan(0));
const places = ({ bridge }: RunningBridge) =>
  bridge
    .followed()
    .map(
      ({ plan, reflector }) =>
        `${plan.ref.group}|${plan.ref.version}|${plan.ref.kind} ${reflector.status().degraded?.reason ?? ""}`,
    )
    .sort();

it("a function that names a kind wrongly is followed apart from those that name it rightly", async () => {
  const apps = {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    scope: "Namespaced",
  } as const;
  const running = await scene.startBridge();
  running.bridge.register([
    testRegistration("collider", { for: { ...apps, group: "", version: "apps/v1" } }),
    testRegistration("otherwise", { for: { ...apps, scope: "Cluster" } }),
    testRegistration("victim", { for: apps }),
  ]);
  const response = await fetch(`${scene.sandbox.url}/apis/apps/v1/namespaces/default/deployments`, {
    method: "POST",
    headers: { authorization: `Bearer ${scene.sandbox.token}`, "content-type": "application/json" },
    body: JSON.stringify({
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "c" }] } },
      },
    }),
  });
  expect(response.status).toBe(201);
  await woken("victim", "d");
  await until(() => {
    const found = places(running);
    expect(found).toHaveLength(3);
    expect(found).toContain("apps|v1|Deployment ");
    expect(found).toContainEqual(expect.stringMatching(/^\|apps\/v1\|Deployment \w+/));
  });
});

it("the API server is asked for the named namespaces alone, unless a function asks for all", async () => {
  const paths = new Set<string>();
  scene.sandbox.faults.respond(({ method, path }) => {
    if (method === "GET" && path.endsWith("/configmaps")) paths.add(path);
    return undefined;
  });
  const inNamespace = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
  const one = testRegistration("one", { for: { ...configMapKind, namespaces: ["default", "kube-system"] } });
  const two = testRegistration("two", { for: { ...configMapKind, namespaces: ["default"] } });
  const running = await scene.startBridge();
  running.bridge.register([one, two]);
  await scene.put("m");
  await woken("one", "m");
  await woken("two", "m");
  await until(() => {
    expect(running.bridge.followed()).toHaveLength(2);
    expect(running.bridge.followed().every(({ reflector }) => reflector.status().synced)).toBe(true);
  });
  expect([...paths].sort()).toEqual(["default", "kube-system"].map(inNamespace));
  running.bridge.register([one, two, testRegistration("three")]);
  await woken("three", "m");
  expect([...paths].sort()).toEqual(["/api/v1/configmaps", ...["default", "kube-system"].map(inNamespace)]);
  expect(await scene.wakes("one", "m")).toBe(1);
});

it("what is looked up is found in every namespace that is named", async () => {
  const namespaces = ["another", "default"];
  const running = await scene.startBridge();
  const secrets = { ...coreKind("Secret", "secrets"), names: { all: true, acrossNamespaces: true } } as const;
  running.bridge.register([
    testRegistration("one", { for: { ...configMapKind, namespaces }, watches: [secrets] }),
  ]);
  await until(() =>
    expect(running.bridge.followed().filter(({ reflector }) => reflector.status().synced)).toHaveLength(3),
  );
  await scene.put("m");
  await woken("one", "m");
  await scene.put("s", {}, "secrets");
  await until(async () => expect(await scene.entry("one", "m")).toHaveProperty("version:secrets"));
});

it("a campaign of a function that names namespaces looks at its objects in all of them", async () => {
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
