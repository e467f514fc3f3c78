import { type ObjectClient, objectKey } from "@drover/controller";
import { builtin, cachedObjectText, type KubeObject, kindOf, deltaText, refOf } from "@drover/kube";
import type { Claim, RunOutcome } from "@drover/queue";
import { beforeEach, expect, it } from "vitest";
import {
  reconcileWidget,
  runOf as firstRunOf,
  Widget,
  type WidgetDefinition as Definition,
  widgetsOfFile,
} from "./widgets.fixture.ts";

const { configMap } = builtin;
const requests: string[] = [];
const { sandbox, client, create } = await widgetsOfFile();
await create("w");
sandbox.faults.respond(({ method, path }) => {
  if (path.includes("configmaps")) requests.push(method);
  return undefined;
});
beforeEach(() => void requests.splice(0));

type Work = (client: ObjectClient) => Promise<unknown>;

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
  const run = firstRunOf("w");
  return reconcileWidget(client, definition, { ...run, claim: { ...run.claim, cachedLists } });
}

const mine = { namespace: "default", selector: { matchLabels: { of: "w" } } };
const find = (of: ObjectClient) => of.find(configMap, mine);
const names = (found: readonly KubeObject[]) => found.map(({ metadata }) => metadata.name).sort();
const make = (of: ObjectClient, name: string, labels = mine.selector.matchLabels) =>
  of.create(configMap, { metadata: { namespace: "default", name, labels } });

it("a run has the objects that the run before found and created, with the changes since, without requests", async () => {
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
  const found = async (of: ObjectClient) => expect(names(await find(of))).toEqual(["old", "own", "since"]);
  const second = await run(found, { stored, deltas });
  expect(requests).toEqual([]);
  expect(JSON.parse(second.observed?.cachedLists ?? "")).toMatchObject({
    configmaps: { objects: { length: 4 } },
  });
  const all = async (of: ObjectClient) => names(await of.find(configMap, { namespace: "default" }));
  await run(async (of) => expect(await all(of)).toContain("theirs"), { stored, deltas });
  expect(requests).toEqual(["GET"]);
});

it("what a run has found and written counts as seen if its function says so, and only then", async () => {
  const versions: string[] = [];
  const reconcile =
    (hasSeenOwnWrites?: true): NonNullable<Definition["reconcile"]> =>
    async ({ client: of }) => {
      const all = [...(await find(of)), await make(of, `own-${hasSeenOwnWrites}`)];
      versions.splice(0, versions.length, ...all.map(({ metadata }) => metadata.resourceVersion));
      return hasSeenOwnWrites && { hasSeenOwnWrites };
    };
  const owning = [{ kind: kindOf(configMap), copies: true }];
  const seen = async (says?: true) =>
    (await runOf({ owns: owning, reconcile: reconcile(says) })).observed?.seen;
  expect(await seen()).toEqual([]);
  expect(await seen(true)).toEqual(
    versions.map((version): unknown => expect.stringContaining(`"resourceVersion":"${version}","object":`)),
  );
});

it.each<[string, Work, boolean]>([
  [
    "that has deleted one",
    (of) => of.delete(configMap, objectKey({ namespace: "default", name: "own" })),
    true,
  ],
  ["of a controller that has no copies", () => Promise.resolve(), false],
  [
    "with a pending write",
    (of) => {
      void make(of, "late").catch(() => undefined);
      return Promise.resolve();
    },
    true,
  ],
])("no cached lists are stored by a run %s", async (_, work, copies) => {
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

it("a run stores its object as written", async () => {
  const { observed } = await runOf({ copies: true, owns, reconcile: label });
  expect(JSON.parse(observed?.cachedObject ?? "")).toMatchObject({
    metadata: { labels: { a: "b" } },
    spec: { size: 1 },
  });
});

it.each<[string, Definition]>([
  ["for keys that other kinds wake", { owns }],
  ["that runs again soon", { reconcile: soon }],
])("a cached object is stored by a controller with copies, %s", async (_, definition) => {
  expect((await runOf({ copies: true, ...definition })).observed).toHaveProperty("cachedObject");
  expect((await runOf(definition)).observed).not.toHaveProperty("cachedObject");
});

it("what a run leaves is kept as long as its controller says, for a run of any cause", async () => {
  const { observed } = await runOf({ copies: true, copiesFor: "1h" });
  expect(observed).toMatchObject({ keepFor: 3_600_000 });
  expect(observed).toHaveProperty("cachedObject");
  const usual = await runOf({ copies: true, owns });
  expect(usual.observed).toMatchObject({ keepFor: 10_000 });
});

it("no cached object is stored if the next wake of the key carries one", async () => {
  expect((await runOf({ copies: true })).observed).not.toHaveProperty("cachedObject");
});
