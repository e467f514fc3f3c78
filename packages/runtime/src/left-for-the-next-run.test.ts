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
  copyOf,
  installCrd,
  type KubeClient,
  type KubeObject,
  kindOf,
  newsText,
  refOf,
} from "@drover/kube";
import type { Claim, Verdict } from "@drover/queue";
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

/** A run that does this, and is told that. */
const run = (work: Work, lists?: Claim["lists"], copies = true): Promise<Verdict> =>
  runOf(
    {
      owns: [{ kind: kindOf(configMap), copies }],
      reconcile: async (context) => {
        await work(context.client);
        return undefined;
      },
    },
    lists,
  );

function runOf(definition: Definition, lists?: Claim["lists"]): Promise<Verdict> {
  const controller = defineController({ for: Widget, reconcile: nothing, ...definition });
  const claim: Claim = { fails: 0, reasons: [], class: "change", versions: {}, lists };
  return reconcileOnce(
    { controller, client, log: silentLog, announce: () => undefined },
    { key, token: "t", claim, signal: new AbortController().signal, held: () => true },
  );
}

const mine = { namespace: "default", selector: { matchLabels: { of: "w" } } };
const find = (of: ObjectClient) => of.find(configMap, mine);
const names = (found: readonly KubeObject[]) => found.map(({ metadata }) => metadata.name).sort();
const make = (of: ObjectClient, name: string, labels = mine.selector.matchLabels) =>
  of.create(configMap, { metadata: { namespace: "default", name, labels } });

it("a run knows what the run before has found and made, and what was told since, and asks for nothing of it", async () => {
  await make(client, "old");
  const first = await run(async (of) => {
    expect(names(await find(of))).toEqual(["old"]);
    await make(of, "own");
    expect(names(await find(of))).toEqual(["old", "own"]);
  });
  const left = first.saw?.lists ?? "";
  const others = await make(client, "theirs", { of: "others" });
  const since = await make(client, "since");
  requests.splice(0);
  const news = [since, others].map((object) => {
    const { name, resourceVersion } = object.metadata;
    const of = { kind: "configmaps", key: objectKey({ namespace: "default", name }), resourceVersion };
    return newsText({ ...of, copy: copyOf(object) ?? "" });
  });
  const second = await run(async (of) => expect(names(await find(of))).toEqual(["old", "own", "since"]), {
    left,
    news,
  });
  expect(requests).toEqual([]);
  expect(JSON.parse(second.saw?.lists ?? "")).toMatchObject({ configmaps: { objects: { length: 4 } } });
  await run(
    async (of) => expect(names(await of.find(configMap, { namespace: "default" }))).toContain("theirs"),
    {
      left,
      news,
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
])("nothing is left of a run %s", async (_, work, copies) => {
  const { saw } = await run(async (of) => (await find(of), work(of)), undefined, copies);
  expect(saw).toBeDefined();
  expect(saw).not.toHaveProperty("lists");
});

const owns = [{ kind: kindOf(configMap) }];
const label: Definition["reconcile"] = async ({ client: its, key: of }) => {
  await its.patch(refOf(Widget), of, { type: "merge", body: { metadata: { labels: { a: "b" } } } });
  return undefined;
};
const soon: Definition["reconcile"] = () => Promise.resolve({ requeueAfter: "5s" });

it("a run leaves its object as it has made it", async () => {
  const { saw } = await runOf({ copies: true, owns, reconcile: label });
  expect(JSON.parse(saw?.copy ?? "")).toMatchObject({ metadata: { labels: { a: "b" } }, spec: { size: 1 } });
});

it.each<[string, Definition]>([
  ["whose keys other kinds wake", { owns }],
  ["that looks again soon", { reconcile: soon }],
])("an object is left by a controller that is given copies, %s", async (_, definition) => {
  expect((await runOf({ copies: true, ...definition })).saw).toHaveProperty("copy");
  expect((await runOf(definition)).saw).not.toHaveProperty("copy");
});

it("no object is left where what wakes the key next brings its own", async () => {
  expect((await runOf({ copies: true })).saw).not.toHaveProperty("copy");
});
