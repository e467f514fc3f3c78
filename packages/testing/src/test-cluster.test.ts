import { defineController, defineResource, RetryAfterError } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { z } from "zod";
import { testCluster } from "./test-cluster.ts";

const Site = defineResource({
  ...{ group: "example.com", version: "v1", kind: "Site", scope: "Namespaced" },
  spec: z.object({ title: z.string() }),
  status: z.object({ page: z.string().optional() }),
});
const site = (name: string, title: string) => ({
  ...{ apiVersion: "example.com/v1", kind: "Site", metadata: { name }, spec: { title } },
});
const configMap = { apiVersion: "v1", kind: "ConfigMap" };

const siteController = (client: KubeClient) =>
  defineController({
    for: Site,
    owns: [{ kind: { ...builtin.configMap, scope: "Namespaced" } }],
    async reconcile({ key, spec, metadata, guard }) {
      const page = { html: `<h1>${spec.title}</h1>` };
      const { uid, name, namespace = "" } = metadata;
      const owner = { apiVersion: "example.com/v1", kind: "Site", name, uid, controller: true };
      const there = await client.get(builtin.configMap, key);
      const mine = client.guarded(guard);
      if (there === undefined) {
        await mine.create(builtin.configMap, {
          metadata: { name, namespace, ownerReferences: [owner] },
          data: page,
        });
      } else if (JSON.stringify(there["data"]) !== JSON.stringify(page)) {
        await mine.patch(builtin.configMap, key, { type: "merge", body: { data: page } });
      }
      return { status: { page: name } };
    },
  });

it("brings a world about, and keeps it so", async () => {
  await using cluster = await testCluster(({ client }) => siteController(client));
  await cluster.apply(site("a", "Hi"));
  await cluster.settled();
  expect(await cluster.get(configMap, "a")).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
  expect(await cluster.get(site("a", ""), "a")).toMatchObject({
    status: { page: "a", observedGeneration: 1 },
  });
  await cluster.delete(configMap, "a");
  await cluster.settled();
  expect(await cluster.get(configMap, "a")).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
  await cluster.apply(site("a", "Ho"));
  await cluster.settled();
  expect(await cluster.get(configMap, "a")).toMatchObject({ data: { html: "<h1>Ho</h1>" } });
});

it("lets hours of waiting pass in no time", async () => {
  let tries = 0;
  const flaky = defineController({
    for: Site,
    reconcile: () => {
      if (tries++ < 3) throw new Error("not yet");
      if (tries < 6) throw new RetryAfterError("soon", { after: "2h" });
      return Promise.resolve({});
    },
  });
  await using cluster = await testCluster(() => flaky);
  const before = cluster.now().getTime();
  await cluster.apply(site("a", "Hi"));
  await cluster.settled();
  expect(tries).toBe(6);
  expect(cluster.now().getTime() - before).toBeGreaterThan(4 * 3_600_000);
});
