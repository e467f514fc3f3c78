import { defineController } from "@drover/controller";
import { builtin, kindOf, type KubeClient, listAll } from "@drover/kube";
import { expect, it } from "vitest";
import { Site, site, siteKind } from "../site.fixture.ts";
import { testFaults } from "./test-faults.ts";

/** Keeps as many pages as `spec.title` has letters, with random names; lists them from a cache (`0`), or in their newest state. */
const pagesController = (client: KubeClient, resourceVersion: "0" | undefined) =>
  defineController({
    for: Site,
    owns: [{ kind: kindOf(builtin.configMap) }],
    async reconcile({ spec, metadata: { name, uid, namespace = "" } }) {
      const owner = { ...siteKind, name, uid, controller: true };
      const all = await listAll(client, builtin.configMap, { namespace, resourceVersion });
      const pages = all.filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid));
      for (let i = pages.length; i < spec.title.length; i++) {
        const at = `${name}-${crypto.randomUUID()}`;
        await client.create(builtin.configMap, {
          metadata: { name: at, namespace, ownerReferences: [owner] },
        });
      }
      return {};
    },
  });
const report = (resourceVersion: "0" | undefined) =>
  testFaults({
    name: "a site grows",
    start: ({ client }) => pagesController(client, resourceVersion),
    steps: [{ apply: site("a", "H") }, { apply: site("a", "Hi") }],
  });

it("finds a function that depends on a cache being current", async () => {
  const { plans, problems } = await report("0");
  expect(problems).toEqual([]);
  expect(plans.filter(({ outcome }) => outcome === "unexecuted")).toEqual([]);
  const found = plans.filter(({ plan, outcome }) => plan.kind === "stale view" && outcome === "differs");
  expect(found.map(({ description }) => description)).toEqual([
    "stale view from before run 1 in run 3, which sends write 3 (create configmaps default/*)",
  ]);
});

it("derives no stale view for a function that reads the newest state", async () => {
  const { plans } = await report(undefined);
  expect(plans.filter(({ plan }) => plan.kind === "stale view")).toEqual([]);
});
