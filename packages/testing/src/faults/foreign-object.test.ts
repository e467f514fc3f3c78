import { defineController, objectKey, type ReconcileContext } from "@drover/controller";
import { builtin, isApiError, kindOf, type KubeClient, type KubeObject, listAll } from "@drover/kube";
import { describe, expect, it } from "vitest";
import { Site, site, siteController, siteKind } from "../site.fixture.ts";
import { faultScenario, type Scenario } from "./scenario.ts";
import { testFaults } from "./test-faults.ts";

type Found = KubeObject | undefined;
interface Page {
  /** Called for a page that the site does not own. */
  readonly onForeign: (client: KubeClient, found: KubeObject, wanted: object) => Promise<unknown>;
  /** Finds the page. */
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

/** A controller of sites that owns ConfigMaps. */
const sites =
  (reconcile: (client: KubeClient, context: ReconcileContext<typeof Site>) => Promise<object>) =>
  ({ client }: { readonly client: KubeClient }) =>
    defineController({
      for: Site,
      owns: [{ kind: kindOf(configMap) }],
      reconcile: (context) => reconcile(client, context),
    });
const ownedBy = ({ metadata: { name, uid, namespace = "" } }: ReconcileContext<typeof Site>) => ({
  name,
  namespace,
  ownerReferences: [{ ...siteKind, name, uid, controller: true }],
});
const isForeign = (found: KubeObject, { metadata: { uid } }: ReconcileContext<typeof Site>): boolean =>
  found.metadata.ownerReferences?.some((one) => one.uid === uid) !== true;

/** A controller that keeps a page for each site, with one mistake or none. */
const pages = ({ onForeign, find = byName }: Page): Scenario["start"] =>
  sites(async (client, context) => {
    const { name } = context.metadata;
    const data = { html: context.spec.title };
    const wanted = { metadata: { ...ownedBy(context), labels: { site: name } }, data };
    const found = await find(client, context);
    if (found === undefined) await client.create(configMap, wanted);
    else if (isForeign(found, context)) await onForeign(client, found, wanted);
    else if (JSON.stringify(found["data"]) !== JSON.stringify(data))
      await client.patch(configMap, keyTo(found), { type: "merge", body: { data } });
    return { status: { page: name } };
  });

const foreignObjectPlans = async (start: Scenario["start"]) => {
  const scenario = faultScenario({
    name: "a site is created and changed",
    start,
    steps: [{ apply: site("a", "Hi") }, { apply: site("a", "Ho") }],
  });
  const { plans, problems } = await testFaults(scenario, { kinds: ["foreign object"] });
  expect(problems).toEqual([]);
  return plans;
};
const findings = async (page: Page): Promise<string> =>
  (await foreignObjectPlans(pages(page)))
    .filter(({ outcome }) => outcome !== "same")
    .map(({ description, differences }) => `${description}: ${differences.join("; ")}`)
    .join("\n");

const refuse = (_: KubeClient, { metadata: { name } }: KubeObject): Promise<never> =>
  Promise.reject(new Error(`The ConfigMap ${name} belongs to another controller.`));

describe("an object of another controller", () => {
  it("is not touched by a correct function, and the plans pass", async () => {
    const right = await foreignObjectPlans(pages({ onForeign: refuse }));
    expect(right.map(({ description, outcome }) => [description, outcome])).toEqual([
      ["an object of another controller with the name of configmaps default/a", "same"],
      ["an object of another controller with the labels of configmaps default/a", "same"],
    ]);
    const fixture = await foreignObjectPlans(({ client }) => siteController(client));
    expect(fixture.map(({ outcome }) => outcome)).toEqual(["same"]);
  });

  it("may be reported by an Event alone", async () => {
    const announcing = sites(async (client, context) => {
      const found = await byName(client, context);
      const note = `${context.metadata.name} belongs to another controller.`;
      if (found === undefined) await client.create(configMap, { metadata: ownedBy(context) });
      else if (isForeign(found, context))
        context.announce({ type: "Warning", reason: "Taken", action: "Look", note });
      return {};
    });
    expect((await foreignObjectPlans(announcing)).map(({ outcome }) => outcome)).toEqual(["same"]);
  });

  it.each<[string, Page["onForeign"], RegExp]>([
    [
      "overwrites it",
      (client, found, { data }: { data?: unknown }) =>
        client.patch(configMap, keyTo(found), { type: "merge", body: { data } }),
      /with the name of .*: a, which belongs to another controller, was written to: patch .*: data\.html was changed/,
    ],
    [
      "deletes it",
      (client, found) => client.delete(configMap, keyTo(found)),
      /which belongs to another controller, was deleted/,
    ],
    [
      "deletes it, and creates its own",
      async (client, found, wanted) => {
        await client.delete(configMap, keyTo(found));
        await client.create(configMap, wanted as Parameters<KubeClient["create"]>[1]);
      },
      /which belongs to another controller, was deleted/,
    ],
    [
      "adopts it",
      (client, found, wanted) => client.patch(configMap, keyTo(found), { type: "merge", body: wanted }),
      /metadata\.ownerReferences\[0\].* was changed/,
    ],
    [
      "writes to it without a change",
      async (client, found) => {
        await client.patch(configMap, keyTo(found), { type: "merge", body: { data: found["data"] } });
        throw new Error("It belongs to another controller.");
      },
      /a, which belongs to another controller, was written to: patch configmaps default\/a/,
    ],
    ["treats it as its own", () => Promise.resolve(), /with the name of .* is treated as the function's own/],
  ])("is protected: the plan fails if a function %s", async (_, onForeign, finding) => {
    expect(await findings({ onForeign })).toMatch(finding);
  });

  it("is protected: the plan fails if a function counts every object with the labels", async () => {
    const found = await findings({ find: byLabels, onForeign: () => Promise.resolve() });
    expect(found).toMatch(
      /with the labels .*: there are 0 of configmaps default\/a, and without the fault 1/,
    );
  });

  it("is protected: the plan fails if a function ignores that the name is taken", async () => {
    const ignoring = sites(async (client, context) => {
      await client.create(configMap, { metadata: ownedBy(context) }).catch((error: unknown) => {
        if (!isApiError(error, "AlreadyExists")) throw error;
      });
      return {};
    });
    const [{ outcome, differences } = {}] = await foreignObjectPlans(ignoring);
    expect([outcome, differences?.join()]).toEqual([
      "differs",
      expect.stringContaining("is treated as the function's own"),
    ]);
  });
});
