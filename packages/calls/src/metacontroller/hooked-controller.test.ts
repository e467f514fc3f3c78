import { openComposer } from "@drover/compose";
import {
  type Controller,
  controllerFrom,
  customResourceDefinition,
  defineFunction,
  defineResource,
  objectKey,
  type RelatedKind,
  type Resource,
} from "@drover/controller";
import { builtin, connect, kindOf, refOf } from "@drover/kube";
import { testCluster } from "@drover/testing";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { hookedController } from "./hooked-controller.ts";
import { type HookName, metacontrollerHooks } from "./hooks.ts";

const Site = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ text: z.string() }),
  status: z.looseObject({ pages: z.int().optional() }),
});
const site = { apiVersion: "example.com/v1", kind: "Site", metadata: { name: "a" }, spec: { text: "Hi" } };
const configMap = { apiVersion: "v1", kind: "ConfigMap" };
const page = (name: string, text = "Hi") => ({ ...configMap, metadata: { name }, data: { text } });
const owns = [{ kind: kindOf(builtin.configMap) }];
const key = objectKey({ namespace: "default", name: "a" });

interface Request {
  readonly finalizing?: boolean;
  readonly children?: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly related?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}
type Hooks = Partial<Record<HookName, (request: Request) => unknown>>;

/** A cluster, in which these functions answer as the hooks of a controller of Metacontroller. */
async function open(
  answers: Hooks,
  {
    controller = "Composite",
    related = [],
  }: { controller?: "Composite" | "Decorator"; related?: readonly RelatedKind[] } = {},
) {
  const kind: Resource = controller === "Decorator" ? { ...Site, foreign: true } : Site;
  const requests: [HookName, Request][] = [];
  const definition = { name: "sites", for: kind, owns, watches: related };
  const updates = [{ group: "", kind: "ConfigMap", method: "InPlace" as const }];
  const { finalize, customize } = answers;
  const hooks = metacontrollerHooks({
    controller,
    sync: "/sync",
    ...(finalize && { finalize: "/finalize" }),
    ...(customize && { customize: "/customize" }),
    updates,
  });
  const start = (): Controller => {
    const own = controllerFrom({
      ...definition,
      reconcile: () => Promise.resolve(undefined),
      ...(finalize && { finalize: () => Promise.resolve() }),
    });
    return hookedController(own, {
      fn: { controller: "sites", namespace: "default", for: kind, owns, related },
      hooks,
      composer: openComposer(own),
      call(hook, _, sent) {
        const request = z.looseObject({}).parse(JSON.parse(JSON.stringify(sent))) as Request;
        requests.push([hook, request]);
        return Promise.resolve(Buffer.from(JSON.stringify(answers[hook]?.(request))));
      },
    });
  };
  // The rules of the gateway for a called function.
  const rule = (resource: string, verb: string) => ({
    apiGroups: ["example.com"],
    resources: [resource],
    verbs: [verb],
  });
  const permissions = { cluster: [rule("sites/status", "update"), rule("sites", "patch")] };
  const cluster = await testCluster(start, {
    crds: [{ ...customResourceDefinition(Site) }],
    deployedAs: defineFunction({ controller: start(), deployment: { permissions } }),
  });
  onTestFinished(() => cluster.close());
  const client = await connect({ ...cluster.server, fieldManager: "another-client" });
  onTestFinished(() => client.close());
  const ready = async () => {
    const conditions = z.looseObject({
      conditions: z.array(z.looseObject({ type: z.string() })).default([]),
    });
    return conditions
      .parse((await cluster.get(site, "a"))?.["status"] ?? {})
      .conditions.find(({ type }) => type === "Ready");
  };
  return { cluster, client, requests, ready };
}

it("makes the children of the sync hook, and writes nothing when they are made", async () => {
  const { cluster, ready } = await open({
    sync: ({ children }) => ({
      status: { pages: Object.keys(children?.["ConfigMap.v1"] ?? {}).length },
      children: [page("a")],
    }),
  });
  await cluster.apply(site);
  await cluster.runUntilIdle();
  const made = await cluster.get(site, "a");
  expect(made?.["status"]).toMatchObject({ pages: 1 });
  expect(await ready()).toMatchObject({ status: "True" });
  await cluster.advance("11h");
  expect((await cluster.get(site, "a"))?.metadata.resourceVersion).toBe(made?.metadata.resourceVersion);
});

it("gives the hooks what the customize hook names, also if it does not exist", async () => {
  // As a ReconcileFunction declares it.
  const names = { code: true, acrossNamespaces: false };
  const related: readonly RelatedKind[] = [
    { kind: kindOf(builtin.secret), names, related: true },
    { kind: kindOf(builtin.service), names: { all: true }, related: true },
  ];
  const { cluster, requests, ready } = await open(
    {
      customize: () => ({ relatedResources: [{ apiVersion: "v1", resource: "secrets", names: ["words"] }] }),
      sync: () => ({ children: [] }),
    },
    { related },
  );
  await cluster.apply(site);
  await cluster.advance("1s");
  expect([requests.map(([hook]) => hook), requests.at(-1)?.[1].related, await ready()]).toMatchObject([
    ["customize", "sync"],
    { "Secret.v1": {}, "Service.v1": {} },
    { status: "True" },
  ]);
});

it("makes what the finalize hook still declares, and lets the object go when it is finalized", async () => {
  const { cluster, requests } = await open({
    sync: () => ({ children: [page("a")] }),
    finalize: ({ children }) =>
      "last" in (children?.["ConfigMap.v1"] ?? {})
        ? { finalized: true }
        : { children: [page("last")], finalized: false, resyncAfterSeconds: 30 },
  });
  await cluster.apply(site);
  await cluster.runUntilIdle();
  await cluster.delete(site, "a");
  await cluster.runUntilIdle();
  expect(requests.filter(([hook]) => hook === "finalize").map(([, { finalizing }]) => finalizing)).toEqual([
    true,
    true,
  ]);
  expect(await cluster.get(site, "a")).toBeUndefined();
});

it("asks the finalize hook again after the time that it gives", async () => {
  const world = { isDone: false };
  const { cluster, ready } = await open({
    sync: () => ({ children: [] }),
    finalize: () => ({ finalized: world.isDone, resyncAfterSeconds: 3 }),
  });
  await cluster.apply(site);
  await cluster.runUntilIdle();
  await cluster.delete(site, "a");
  await cluster.advance("1s");
  expect(await ready()).toMatchObject({ reason: "Finalizing" });
  world.isDone = true;
  await cluster.advance("1s");
  expect(await cluster.get(site, "a")).toBeDefined();
  await cluster.advance("3s");
  expect(await cluster.get(site, "a")).toBeUndefined();
});

it("makes no children while the garbage collector deletes them", async () => {
  const held = { ...page("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } };
  const { cluster, client, requests } = await open({
    sync: () => ({ children: [held] }),
    finalize: () => ({ children: [page("last")], finalized: false, resyncAfterSeconds: 3 }),
  });
  await cluster.apply(site);
  await cluster.runUntilIdle();
  await client.delete(refOf(Site), key, { propagationPolicy: "Foreground" });
  await cluster.advance("10s");
  expect(requests.at(-1)).toMatchObject(["finalize", { children: { "ConfigMap.v1": { a: {} } } }]);
  // The collector would delete it at once.
  expect(cluster.announcements.map(({ note }) => note).join()).not.toContain("last");
  const { finalizers } = (await cluster.get(site, "a"))?.metadata ?? {};
  expect(finalizers).toContain("foregroundDeletion");
});

it("decorates an object only where the hook says something else", async () => {
  const world: { answer: object } = {
    answer: {
      labels: { a: "1", gone: null },
      annotations: { b: "2" },
      status: { pages: 3 },
      attachments: [page("x")],
    },
  };
  const { cluster } = await open({ sync: () => world.answer }, { controller: "Decorator" });
  await cluster.apply({ ...site, metadata: { name: "a", labels: { gone: "x", kept: "y" } } });
  await cluster.runUntilIdle();
  const decorated = await cluster.get(site, "a");
  expect(decorated).toMatchObject({
    metadata: { labels: { a: "1", kept: "y" }, annotations: { b: "2" } },
    status: { pages: 3 },
  });
  expect(decorated?.metadata.labels).not.toHaveProperty("gone");
  // No conditions of Drover's.
  expect(decorated?.["status"]).toEqual({ pages: 3 });
  expect(await cluster.get(configMap, "x")).toBeDefined();
  await cluster.advance("11h");
  expect((await cluster.get(site, "a"))?.metadata.resourceVersion).toBe(decorated?.metadata.resourceVersion);
  // Without a status, it stays as it is; without attachments, they go.
  world.answer = {};
  await cluster.advance("11h");
  expect((await cluster.get(site, "a"))?.["status"]).toEqual({ pages: 3 });
  expect(await cluster.get(configMap, "x")).toBeUndefined();
});

it("reports an answer that it cannot use, and leaves the children", async () => {
  const world: { answer: object } = { answer: { children: [page("a")] } };
  const { cluster, ready } = await open({ sync: () => world.answer });
  await cluster.apply(site);
  await cluster.runUntilIdle();
  world.answer = {};
  await cluster.apply({ ...site, spec: { text: "Bye" } });
  await cluster.advance("1s");
  expect(await ready()).toMatchObject({ status: "False", reason: "BadAnswer" });
  expect(await cluster.get(configMap, "a")).toBeDefined();
});
