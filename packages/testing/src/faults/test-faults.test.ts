import { defineController, defineResource } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { z } from "zod";
import { faultScenario, type Scenario } from "./scenario.ts";
import { testFaults } from "./test-faults.ts";

const Site = defineResource({
  ...{ group: "example.com", version: "v1", kind: "Site", scope: "Namespaced" },
  spec: z.object({ title: z.string() }),
  status: z.object({ page: z.string().optional() }),
});
const kind = { apiVersion: "example.com/v1", kind: "Site" };
const site = (title: string) => ({ ...kind, metadata: { name: "a" }, spec: { title } });

const siteController = (client: KubeClient) =>
  defineController({
    for: Site,
    owns: [{ kind: { ...builtin.configMap, scope: "Namespaced" } }],
    async reconcile({ key, spec, metadata, guard }) {
      const page = { html: `<h1>${spec.title}</h1>` };
      const { uid, name, namespace = "" } = metadata;
      const owner = { ...kind, name, uid, controller: true };
      const there = await client.get(builtin.configMap, key);
      const mine = client.guarded(guard);
      if (there === undefined) {
        const object = { metadata: { name, namespace, ownerReferences: [owner] }, data: page };
        await mine.create(builtin.configMap, object);
      } else if (there.metadata.ownerReferences?.some((one) => one.uid === uid) !== true) {
        throw new Error(`The ConfigMap ${key} is somebody else's.`);
      } else if (JSON.stringify(there["data"]) !== JSON.stringify(page)) {
        await mine.patch(builtin.configMap, key, { type: "merge", body: { data: page } });
      }
      return { status: { page: name } };
    },
  });
const scenario: Scenario = faultScenario({
  name: "a site comes and changes",
  start: ({ client }) => siteController(client),
  steps: [{ apply: site("Hi") }, { apply: site("Ho") }],
});

it("finds nothing wrong with a controller that is right", async () => {
  const report = await testFaults(scenario);
  console.log(
    report.plans
      .map((p) => `${p.outcome} ${p.words}\n${p.differences.join("\n")}\n${p.story.join("\n")}`)
      .join("\n"),
  );
  expect(report.problems).toEqual([]);
  expect(report.plans.filter(({ outcome }) => outcome !== "same")).toEqual([]);
});
