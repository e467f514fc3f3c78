import { RetryAfterError } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { configMapKind, site, siteController, siteKind } from "./site.fixture.ts";
import { testCluster } from "./test-cluster.ts";

it("brings a world about, and keeps it so", async () => {
  await using cluster = await testCluster(({ client }) => siteController(client));
  await cluster.apply(site("a", "Hi"));
  await cluster.settled();
  expect(await cluster.get(configMapKind, "a")).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
  expect(await cluster.get(siteKind, "a")).toMatchObject({
    status: { page: "a", observedGeneration: 1 },
  });
  await cluster.delete(configMapKind, "a");
  await cluster.settled();
  expect(await cluster.get(configMapKind, "a")).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
  await cluster.apply(site("a", "Ho"));
  await cluster.settled();
  expect(await cluster.get(configMapKind, "a")).toMatchObject({ data: { html: "<h1>Ho</h1>" } });
});

it("lets hours of waiting pass in no time", async () => {
  let tries = 0;
  const flaky = (client: KubeClient) => ({
    ...siteController(client),
    reconcile: () => {
      if (tries++ < 3) throw new Error("not yet");
      if (tries < 6) throw new RetryAfterError("soon", { after: "2h" });
      return Promise.resolve({});
    },
  });
  await using cluster = await testCluster(({ client }) => flaky(client));
  const before = cluster.now().getTime();
  await cluster.apply(site("a", "Hi"));
  await cluster.settled();
  expect(tries).toBe(6);
  expect(cluster.now().getTime() - before).toBeGreaterThan(4 * 3_600_000);
});
