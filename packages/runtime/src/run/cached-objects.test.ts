import {
  type ObjectClient,
  type ControllerDefinition,
  customResourceDefinition,
  defineController,
  defineResource,
  objectKey,
  silentLog,
} from "@drover/controller";
import {
  builtin,
  connect,
  cachedObjectText,
  installCrd,
  type KubeClient,
  type KubeObject,
  kindOf,
  deltaText,
  refOf,
} from "@drover/kube";
import type { Claim, RunOutcome } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { reconcileOnce } from "./reconcile-once.ts";

const Widget = defineResource({
  group: "tests.drover.dev",
  version: "v1",
  kind: "Widget",
  scope: "Namespaced",
  spec: z.object({ size: z.number().int() }),
  status: z.object({}),
});
const key = objectKey({ namespace: "default", name: "w" });
const { configMap } = builtin;

let sandbox: Sandbox;
let client: KubeClient;
let folder: string;
const requests: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({});
  folder = mkdtempSync(join(tmpdir(), "drover-runtime-"));
  writeFileSync(join(folder, "kubeconfig"), sandbox.kubeconfig(), { mode: 0o600 });
  client = await connect({ kubeconfig: join(folder, "kubeconfig") });
  await installCrd(client, { ...customResourceDefinition(Widget) });
  await client.create(refOf(Widget), { metadata: { namespace: "default", name: "w" }, spec: { size: 1 } });
  sandbox.faults.respond(({ method, path }) => {
    if (path.includes("configmaps")) requests.push(method);
    return undefined;
  });
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void requests.splice(0));

type Work = (client: ObjectClient) => Promise<unknown>;

type Definition = Partial<ControllerDefinition<typeof Widget>>;
const nothing = () => Promise.resolve(undefined);

/** Runs `work`, with cached lists in the claim. */
const run = (work: Work, cachedLists?: Claim["cachedLists"], copies = true): Promise<RunOutcome> =>
  runOf(
    {
      owns: [{ kind: kindOf(configMap), copies }],
      reconcile: async (context) => {
        await work(context.client);
        return undefined;
      },
    },
    cachedLists,
  );

function runOf(definition: Definition, cachedLists?: Claim["cachedLists"]): Promise<RunOutcome> {
  const controller = defineController({ for: Widget, reconcile: nothing, ...definition });
  const claim: Claim = { fails: 0, reasons: [], class: "change", versions: {}, cachedLists };
  return reconcileOnce(
    { controller, client, log: silentLog, announce: () => undefined },
    { key, token: "t", claim, signal: new AbortController().signal, hasLease: () => true },
  );
}

const mine = { namespace: "default", selector: { matchLabels: { of: "w" } } };
const find = (of: ObjectClient) => of.find(configMap, mine);
const names = (found: readonly KubeObject[]) => found.map(({ metadata }) => metadata.name).sort();
const make = (of: ObjectClient, name: string, labels = mine.selector.matchLabels) =>
  of.create(configMap, { metadata: { namespace: "default", name, labels } });

it("a run has the objects that the run before found and made, with the changes since, and requests none of them", async () => {
  await make(client, "old");
  const first = await run(async (of) => {
    expect(names(await find(of))).toEqual(["old"]);
    await make(of, "own");
    expect(names(await find(of))).toEqual(["old", "own"]);
  });
  const stored = first.observed?.cachedLists ?? "";
  const others = await make(client, "theirs", { of: "others" });
  const since = await make(client, "since");
  requests.splice(0);
  const deltas = [since, others].map((object) => {
    const { name, resourceVersion } = object.metadata;
    const of = { kind: "configmaps", key: objectKey({ namespace: "default", name }), resourceVersion };
    return deltaText({ ...of, copy: cachedObjectText(object) ?? "" });
  });
  const second = await run(async (of) => expect(names(await find(of))).toEqual(["old", "own", "since"]), {
    stored,
    deltas,
  });
  expect(requests).toEqual([]);
  expect(JSON.parse(second.observed?.cachedLists ?? "")).toMatchObject({
    configmaps: { objects: { length: 4 } },
  });
  await run(
    async (of) => expect(names(await of.find(configMap, { namespace: "default" }))).toContain("theirs"),
    {
      stored,
      deltas,
    },
  );
  expect(requests).toEqual(["GET"]);
});

it.each<[string, Work, boolean]>([
  [
    "that has deleted one",
    (of) => of.delete(configMap, objectKey({ namespace: "default", name: "own" })),
    true,
  ],
  ["of a controller that has no copies", () => Promise.resolve(), false],
  [
    "whose write is still under way",
    (of) => {
      void make(of, "late").catch(() => undefined);
      return Promise.resolve();
    },
    true,
  ],
])("no cached lists are left by a run %s", async (_, work, copies) => {
  const { observed } = await run(async (of) => (await find(of), work(of)), undefined, copies);
  expect(observed).toBeDefined();
  expect(observed).not.toHaveProperty("cachedLists");
});

const owns = [{ kind: kindOf(configMap) }];
const label: Definition["reconcile"] = async ({ client: its, key: of }) => {
  await its.patch(refOf(Widget), of, { type: "merge", body: { metadata: { labels: { a: "b" } } } });
  return undefined;
};
const soon: Definition["reconcile"] = () => Promise.resolve({ requeueAfter: "5s" });

it("a run leaves its object as it has written it", async () => {
  const { observed } = await runOf({ copies: true, owns, reconcile: label });
  expect(JSON.parse(observed?.cachedObject ?? "")).toMatchObject({
    metadata: { labels: { a: "b" } },
    spec: { size: 1 },
  });
});

it.each<[string, Definition]>([
  ["whose keys other kinds wake", { owns }],
  ["that runs again soon", { reconcile: soon }],
])("a cached object is left by a controller with copies, %s", async (_, definition) => {
  expect((await runOf({ copies: true, ...definition })).observed).toHaveProperty("cachedObject");
  expect((await runOf(definition)).observed).not.toHaveProperty("cachedObject");
});

it("no cached object is left if the next wake of the key brings its own", async () => {
  expect((await runOf({ copies: true })).observed).not.toHaveProperty("cachedObject");
});
