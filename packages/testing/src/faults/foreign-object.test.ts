import { defineController, objectKey, type ReconcileContext } from "@drover/controller";
import { builtin, isApiError, kindOf, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { describe, expect, it } from "vitest";
import { Site, site, siteController, siteKind } from "../site.fixture.ts";
import { faultScenario, type Scenario } from "./scenario.ts";
import { testFaults } from "./test-faults.ts";

type Found = KubeObject | undefined;
interface Page {
  /** Of what is there and not the site's. */
  readonly onForeign: (client: KubeClient, found: KubeObject, wanted: object) => Promise<unknown>;
  /** Which pages there are. */
  readonly find?: (client: KubeClient, context: ReconcileContext<typeof Site>) => Promise<Found>;
}

const { configMap } = builtin;
const keyTo = ({ metadata: { name, namespace = "" } }: KubeObject) => objectKey({ namespace, name });
const byName = (client: KubeClient, { key }: ReconcileContext<typeof Site>): Promise<Found> =>
  client.get(configMap, key);
const byLabels = async (
  client: KubeClient,
  { metadata: { name, namespace } }: ReconcileContext<typeof Site>,
) => (await listAll(client, configMap, { namespace, labelSelector: `site=${name}` }))[0];

/** Keeps a page for each site, with one mistake or none. */
const pages =
  ({ onForeign, find = byName }: Page): Scenario["start"] =>
  ({ client }) =>
    defineController({
      for: Site,
      owns: [{ kind: kindOf(configMap) }],
      async reconcile(context) {
        const { metadata, spec } = context;
        const { uid, name, namespace = "" } = metadata;
        const data = { html: spec.title };
        const ownerReferences = [{ ...siteKind, name, uid, controller: true }];
        const wanted = { metadata: { name, namespace, labels: { site: name }, ownerReferences }, data };
        const found = await find(client, context);
        if (found === undefined) await client.create(configMap, wanted);
        else if (found.metadata.ownerReferences?.some((one) => one.uid === uid) !== true)
          await onForeign(client, found, wanted);
        else if (JSON.stringify(found["data"]) !== JSON.stringify(data))
          await client.patch(configMap, keyTo(found), { type: "merge", body: { data } });
        return { status: { page: name } };
      },
    });

const strangers = async (start: Scenario["start"]) => {
  const scenario = faultScenario({
    name: "a site comes and changes",
    start,
    steps: [{ apply: site("a", "Hi") }, { apply: site("a", "Ho") }],
  });
  const { plans, problems } = await testFaults(scenario, { kinds: ["stranger"] });
  expect(problems).toEqual([]);
  return plans;
};
const findings = async (page: Page): Promise<string> =>
  (await strangers(pages(page)))
    .filter(({ outcome }) => outcome !== "same")
    .map(({ description, differences }) => `${description}: ${differences.join("; ")}`)
    .join("\n");

const refuse = (_: KubeClient, { metadata: { name } }: KubeObject): Promise<never> =>
  Promise.reject(new Error(`The ConfigMap ${name} is somebody else's.`));

describe("an object of somebody else's", () => {
  it("is left alone by a function that is right, and it is told that it is", async () => {
    const right = await strangers(pages({ onForeign: refuse }));
    expect(right.map(({ description, outcome }) => [description, outcome])).toEqual([
      ["somebody else's object of the name of configmaps default/a", "same"],
      ["somebody else's object with the labels of configmaps default/a", "same"],
    ]);
    const fixture = await strangers(({ client }) => siteController(client));
    expect(fixture.map(({ outcome }) => outcome)).toEqual(["same"]);
  });

  it("may be told of in an Event alone", async () => {
    const announcing: Scenario["start"] = ({ client }) =>
      defineController({
        for: Site,
        owns: [{ kind: kindOf(configMap) }],
        async reconcile({ key, metadata: { name, uid, namespace = "" }, announce }) {
          const found = await client.get(configMap, key);
          const ownerReferences = [{ ...siteKind, name, uid, controller: true }];
          if (found === undefined)
            await client.create(configMap, { metadata: { name, namespace, ownerReferences } });
          else if (found.metadata.ownerReferences?.some((one) => one.uid === uid) !== true)
            announce({
              type: "Warning",
              reason: "Taken",
              action: "Look",
              note: `${name} is somebody else's.`,
            });
          return {};
        },
      });
    expect((await strangers(announcing)).map(({ outcome }) => outcome)).toEqual(["same"]);
  });

  it.each<[string, Page["onForeign"], RegExp]>([
    [
      "overwrites it",
      (client, found, { data }: { data?: unknown }) =>
        client.patch(configMap, keyTo(found), { type: "merge", body: { data } }),
      /of the name .*: a, which is somebody else's, was written to: patch .*: data\.html was changed/,
    ],
    [
      "deletes it",
      (client, found) => client.delete(configMap, keyTo(found)),
      /which is somebody else's, was deleted/,
    ],
    [
      "deletes it, and makes its own",
      async (client, found, wanted) => {
        await client.delete(configMap, keyTo(found));
        await client.create(configMap, wanted as Parameters<KubeClient["create"]>[1]);
      },
      /which is somebody else's, was deleted/,
    ],
    [
      "adopts it",
      (client, found, wanted) => client.patch(configMap, keyTo(found), { type: "merge", body: wanted }),
      /metadata\.ownerReferences\[0\].* was changed/,
    ],
    [
      "writes to it, which changes nothing",
      async (client, found) => {
        await client.patch(configMap, keyTo(found), { type: "merge", body: { data: found["data"] } });
        throw new Error("It is somebody else's.");
      },
      /a, which is somebody else's, was written to: patch configmaps default\/a/,
    ],
    ["takes it for its own", () => Promise.resolve(), /of the name .* is taken for its own/],
  ])("is noticed where a function %s", async (_, onForeign, finding) => {
    expect(await findings({ onForeign })).toMatch(finding);
  });

  it("is noticed where a function counts whatever has the labels", async () => {
    const found = await findings({ find: byLabels, onForeign: () => Promise.resolve() });
    expect(found).toMatch(
      /with the labels .*: there are 0 of configmaps default\/a, and without the fault 1/,
    );
  });

  it("is noticed where a function ignores that the name is taken", async () => {
    const ignoring: Scenario["start"] = ({ client }) =>
      defineController({
        for: Site,
        owns: [{ kind: kindOf(configMap) }],
        async reconcile({ metadata: { name, uid, namespace = "" } }) {
          const ownerReferences = [{ ...siteKind, name, uid, controller: true }];
          await client
            .create(configMap, { metadata: { name, namespace, ownerReferences } })
            .catch((error: unknown) => {
              if (!isApiError(error, "AlreadyExists")) throw error;
            });
          return {};
        },
      });
    const [{ outcome, differences } = {}] = await strangers(ignoring);
    expect([outcome, differences?.join()]).toEqual(["differs", expect.stringContaining("taken for its own")]);
  });
});
