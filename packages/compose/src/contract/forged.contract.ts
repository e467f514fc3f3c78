import { objectKey } from "@drover/controller";
import { builtin, controllerReference, type KubeClient, refOf } from "@drover/kube";
import type { TestCluster } from "@drover/testing";
import { describe, expect, test } from "vitest";
import {
  composedClusters,
  conditionOf,
  configMap,
  createNamespace,
  get,
  key,
  outcomes,
  type Servers,
} from "./clusters.contract.ts";
import { Website, websiteKind } from "../website.fixture.ts";

/** The promises about objects that others make to look like children. */
export function forgedContract(servers: () => Servers): void {
  const { declaring, everywhere } = composedClusters(servers);

  const recordOf = async (cluster: TestCluster) =>
    (await cluster.get(websiteKind, "a"))?.metadata.annotations?.["drover.dev/children-elsewhere"];
  const held = { finalizers: ["example.com/held"] };
  const release = (client: KubeClient, namespace: string, name: string) =>
    client.patch(builtin.configMap, objectKey({ namespace, name }), {
      type: "merge",
      body: { metadata: { finalizers: null } },
    });
  /** The labels and annotations that tell a child of the website in another namespace. */
  const marksOf = async (client: KubeClient, child = key) => {
    const { labels, annotations } = (await client.get(builtin.configMap, child))?.metadata ?? expect.fail();
    return { labels, annotations };
  };
  const large = { large: "x".repeat(2 ** 20 - 1_000) };

  describe("an object elsewhere with the labels and annotations of a child", () => {
    test("is not given to the function, not deleted, and does not hold the parent", async () => {
      const { cluster, client, elsewhere, namespace, key, declare, seen } = await everywhere((elsewhere) => [
        elsewhere({ a: "1" }),
      ]);
      const metadata = { ...(await marksOf(client, key)), ...held, name: "forged" };
      const other = await createNamespace(client);
      for (const where of [namespace, other])
        await client.create(builtin.configMap, { metadata: { ...metadata, namespace: where } });
      await declare([elsewhere({ a: "2" })]);
      expect(seen.at(-1)).toEqual([key]);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({ status: "True" });
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await cluster.get(websiteKind, "a")).toBeUndefined();
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
      for (const where of [namespace, other]) {
        const forged = await client.get(builtin.configMap, objectKey({ namespace: where, name: "forged" }));
        expect(forged?.metadata.deletionTimestamp).toBeUndefined();
        await release(client, where, "forged");
      }
    });

    test("is not read if there are many, and large: the children are found and deleted", async () => {
      const { cluster, client, elsewhere, key, declare, seen } = await everywhere((elsewhere) => [
        elsewhere({ a: "1" }),
        configMap({ here: "1" }, "here"),
      ]);
      const marks = await marksOf(client, key);
      const namespace = await createNamespace(client);
      for (let i = 0; i < 9; i++) {
        const metadata = { ...marks, namespace, name: `forged-${i}` };
        await client.create(builtin.configMap, { metadata, data: large });
      }
      await declare([elsewhere({ a: "2" }), configMap({ here: "2" }, "here")]);
      expect(seen.at(-1)).toEqual(["default/here", key]);
      expect(await client.get(builtin.configMap, key)).toMatchObject({ data: { a: "2" } });
      expect(await get(cluster, "configMap", "here")).toMatchObject({ data: { here: "2" } });
      await declare([]);
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
      expect(outcomes(cluster)).not.toContain("terminal");
    });
  });

  test("a child elsewhere is recorded on its parent before it is made, and until it is gone", async () => {
    const opened = await everywhere((elsewhere) => [elsewhere({ a: "1" }), configMap({ here: "1" })]);
    const { cluster, client, namespace, key, declare, meanwhile, elsewhere } = opened;
    expect(await recordOf(cluster)).toBe(`configmaps/${key}`);
    expect(outcomes(cluster)).not.toContain("conflict");
    const body = { metadata: held };
    await client.patch(builtin.configMap, key, { type: "merge", body });
    meanwhile(() =>
      client.patch(refOf(Website), objectKey({ namespace: "default", name: "a" }), {
        type: "merge",
        body: { metadata: { annotations: { theirs: "t" } } },
      }),
    );
    await declare([elsewhere({ b: "1" }, "b")]);
    expect(outcomes(cluster)).toContain("conflict");
    expect(await recordOf(cluster)).toBe(`configmaps/${key} configmaps/${namespace}/b`);
    await release(client, namespace, "a");
    await cluster.runUntilIdle();
    expect(await recordOf(cluster)).toBe(`configmaps/${namespace}/b`);
    await declare([]);
    expect(await client.get(builtin.configMap, objectKey({ namespace, name: "b" }))).toBeUndefined();
    expect(await recordOf(cluster)).toBeUndefined();
  });

  test("a record that is lost is written again, with the children that are declared", async () => {
    const { cluster, client, key } = await everywhere((elsewhere) => [elsewhere({ a: "1" })]);
    const body = { metadata: { annotations: { "drover.dev/children-elsewhere": null } } };
    await client.patch(refOf(Website), objectKey({ namespace: "default", name: "a" }), {
      type: "merge",
      body,
    });
    await cluster.runUntilIdle();
    expect(await recordOf(cluster)).toBe(`configmaps/${key}`);
    await cluster.delete(websiteKind, "a");
    await cluster.runUntilIdle();
    expect(await client.get(builtin.configMap, key)).toBeUndefined();
  });

  test("an object beside the parent that names it, without its owner reference, does not hold it", async () => {
    const { cluster, client } = await everywhere((elsewhere) => [elsewhere({}), configMap({})]);
    const { labels } = await marksOf(client);
    for (const parent of ["Website.example.com/a", "Website.example.com/default/a"]) {
      const annotations = { "drover.dev/parent": parent };
      const metadata = { ...held, labels, annotations, namespace: "default" };
      await client.create(builtin.configMap, { metadata: { ...metadata, name: `forged-${parent.length}` } });
    }
    await cluster.delete(websiteKind, "a");
    await cluster.runUntilIdle();
    expect(await cluster.get(websiteKind, "a")).toBeUndefined();
  });

  test("children that others make too large stop the parent until they are deleted", async () => {
    const { cluster, client, declare } = await declaring([configMap({ a: "1" })]);
    const { labels } = await marksOf(client);
    const { metadata: owner } = (await cluster.get(websiteKind, "a")) ?? expect.fail();
    const ownerReferences = [controllerReference({ ref: refOf(Website), metadata: owner })];
    const names = Array.from({ length: 17 }, (_, i) => `forged-${i}`);
    for (const name of names) {
      const metadata = { labels, ownerReferences, name, namespace: "default" };
      await client.create(builtin.configMap, { metadata, data: large });
    }
    await declare([configMap({ a: "2" })]);
    const labelled = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`);
    expect(await conditionOf(cluster, "Ready")).toMatchObject({
      reason: "TooManyChildren",
      message: expect.stringContaining(`kubectl get configmaps -A -l ${labelled.join(",")}`) as string,
    });
    for (const name of names) await cluster.delete({ apiVersion: "v1", kind: "ConfigMap" }, name);
    await cluster.runUntilIdle();
    expect(await get(cluster, "configMap")).toMatchObject({ data: { a: "2" } });
  });
}
