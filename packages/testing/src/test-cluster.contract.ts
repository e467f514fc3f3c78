import { defineController, defineResource, immutable, RetryAfterError } from "@drover/controller";
import type { KubeClient } from "@drover/kube";
import { expect, it } from "vitest";
import { z } from "zod";
import { configMapKind, site, siteController, siteKind } from "./site.fixture.ts";
import { type TestCluster, testCluster } from "./test-cluster.ts";
import type { TestServerFactory } from "./test-server.ts";

/** The behaviour of a test cluster, with any API server. */
export function testClusterContract(servers: () => TestServerFactory | undefined): void {
  const open = (start: Parameters<typeof testCluster>[0]) => {
    const given = servers();
    return testCluster(start, given && { servers: given });
  };

  const openSites = () => open(({ client }) => siteController(client));
  /** Applies a site, and runs until nothing is left to do. */
  const settle = async (cluster: TestCluster, title: string): Promise<void> => {
    await cluster.apply(site("a", title));
    await cluster.runUntilIdle();
  };
  const page = (cluster: TestCluster) => cluster.get(configMapKind, "a");

  it("reaches the desired state, and restores it", async () => {
    await using cluster = await openSites();
    await settle(cluster, "Hi");
    expect(await page(cluster)).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
    expect(await cluster.get(siteKind, "a")).toMatchObject({ status: { page: "a", observedGeneration: 1 } });
    await cluster.delete(configMapKind, "a");
    await cluster.runUntilIdle();
    expect(await page(cluster)).toMatchObject({ data: { html: "<h1>Hi</h1>" } });
    await settle(cluster, "Ho");
    expect(await page(cluster)).toMatchObject({ data: { html: "<h1>Ho</h1>" } });
  });

  it("starts without the objects of other tests", async () => {
    await using cluster = await openSites();
    expect(await cluster.get(siteKind, "a")).toBeUndefined();
    expect(await page(cluster)).toBeUndefined();
    await cluster.runUntilIdle();
    expect(cluster.runs).toEqual([]);
  });

  it("refuses what a rule in the schema refuses, with its message", async () => {
    const spec = z
      .object({ least: z.int(), most: z.int(), mode: z.string().meta({ kubernetes: immutable }) })
      .meta({
        kubernetes: { cel: [{ rule: "self.least <= self.most", message: "least is more than most" }] },
      });
    const Range = defineResource({
      group: "rules.example.com",
      version: "v1",
      kind: "Range",
      scope: "Namespaced",
      spec,
      status: z.object({}),
    });
    const range = (least: number, mode = "a") => ({
      apiVersion: "rules.example.com/v1",
      kind: "Range",
      metadata: { name: "a" },
      spec: { least, most: 5, mode },
    });
    await using cluster = await open(() =>
      defineController({ for: Range, reconcile: () => Promise.resolve({}) }),
    );
    await cluster.apply(range(5));
    await expect(cluster.apply(range(6))).rejects.toThrow("least is more than most");
    await expect(cluster.apply(range(4, "b"))).rejects.toThrow(
      'spec.mode: Invalid value: "b": cannot be changed',
    );
    expect(await cluster.get(range(5), "a")).toMatchObject({ spec: { least: 5, mode: "a" } });
  });

  it("skips hours of waiting", async () => {
    let tries = 0;
    const flaky = (client: KubeClient) => ({
      ...siteController(client),
      reconcile: () => {
        if (tries++ < 3) throw new Error("not yet");
        if (tries < 6) throw new RetryAfterError("soon", { after: "2h" });
        return Promise.resolve({});
      },
    });
    await using cluster = await open(({ client }) => flaky(client));
    const before = cluster.now().getTime();
    await settle(cluster, "Hi");
    expect(tries).toBe(6);
    expect(cluster.now().getTime() - before).toBeGreaterThan(4 * 3_600_000);
  });

  it("is not idle before a run has followed each change, also of an object that always fails", async () => {
    const failing = (client: KubeClient) => ({
      ...siteController(client),
      reconcile: () => Promise.reject(new Error("never")),
    });
    await using cluster = await open(({ client }) => failing(client));
    await settle(cluster, "Hi");
    for (const change of ["1", "2", "3"]) {
      const { metadata, ...rest } = site("a", "Hi");
      await cluster.apply({ ...rest, metadata: { ...metadata, annotations: { change } } });
      const before = cluster.runs.length;
      await cluster.runUntilIdle();
      expect(cluster.runs.slice(before).flatMap(({ reasons }) => reasons)).toEqual(["Modified"]);
    }
  });

  it("loses the memory of a killed process, and nothing else", async () => {
    let processes = 0;
    await using cluster = await open(({ client }) => (processes++, siteController(client)));
    await settle(cluster, "Hi");
    cluster.restart();
    await settle(cluster, "Ho");
    expect(processes).toBe(2);
    expect(await page(cluster)).toMatchObject({ data: { html: "<h1>Ho</h1>" } });
  });

  it("rejects if a function is never done", async () => {
    let count = 0;
    const restless = (client: KubeClient) => ({
      ...siteController(client),
      reconcile: () => Promise.resolve({ status: { page: String(count++) }, requeueAfter: "1s" as const }),
    });
    await using cluster = await open(({ client }) => restless(client));
    await cluster.apply(site("a", "Hi"));
    await expect(cluster.runUntilIdle()).rejects.toThrow(
      /default\/a has run 100 times and is not done[^]*update sites.example.com\/status default\/a; is done/,
    );
  });

  it("applies as kubectl does: fields removed from the manifest are removed, fields of other clients stay", async () => {
    await using cluster = await openSites();
    const page = { ...configMapKind, metadata: { name: "page", labels: { team: "a" } } };
    await cluster.apply({ ...page, data: { a: "1", b: "2" } });
    await cluster.apply({ ...configMapKind, metadata: { name: "page" }, data: { a: "1", c: "3" } });
    const found = await cluster.get(configMapKind, "page");
    expect(found?.["data"]).toEqual({ a: "1", c: "3" });
    expect(found?.metadata.labels).toBeUndefined();
    await cluster.apply(site("kept", "Hi"));
    await cluster.runUntilIdle();
    await cluster.apply(site("kept", "Ho"));
    expect(await cluster.get(siteKind, "kept")).toMatchObject({ status: { page: "kept" } });
  });

  it("refuses a field that the kind does not have, as kubectl does", async () => {
    await using cluster = await openSites();
    const misspelt = { ...site("a", "Hi"), spec: { title: "Hi", tilte: "Ho" } };
    await expect(cluster.apply(misspelt)).rejects.toThrow(/400 to the Site a: .*unknown field "spec.tilte"/);
  });

  it("lists the served kinds if a kind is unknown", async () => {
    await using cluster = await openSites();
    const wrong = { apiVersion: "example.com/v1", kind: "Sight", metadata: { name: "a" } };
    await expect(cluster.apply(wrong)).rejects.toThrow("serves no Sight in example.com/v1: Site there.");
  });
}
