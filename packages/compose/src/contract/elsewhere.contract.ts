import { objectKey } from "@drover/controller";
import { builtin, controllerReference } from "@drover/kube";
import { describe, expect, test } from "vitest";
import { composedClusters, conditionOf, configMap, type Servers } from "./clusters.contract.ts";
import { ownsEverywhere, website, websiteKind } from "../website.fixture.ts";

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "composed-node" } };
const nodeKey = objectKey({ name: "composed-node" });
/** The promises about children in other namespaces than their parent, and about cluster-scoped ones. */
export function elsewhereContract(servers: () => Servers): void {
  const { everywhere } = composedClusters(servers);

  describe("children that cannot have an owner reference", () => {
    test("are made, corrected, and deleted when they are not declared any more", async () => {
      const { cluster, client, declare, key } = await everywhere((elsewhere) => [
        elsewhere({ a: "1" }),
        node,
        configMap({ here: "1" }),
      ]);
      const child = await client.get(builtin.configMap, key);
      expect(child).toMatchObject({
        data: { a: "1" },
        metadata: { annotations: { "drover.dev/parent": "Website.example.com/default/a" } },
      });
      expect(child?.metadata.ownerReferences ?? []).toEqual([]);
      expect(await client.get(builtin.node, nodeKey)).toBeDefined();
      const patch = { type: "merge", body: { data: { a: "2" } } } as const;
      await client.patch(builtin.configMap, key, patch);
      await cluster.advance("2s");
      expect(await client.get(builtin.configMap, key)).toMatchObject({ data: { a: "1" } });
      await client.delete(builtin.configMap, key);
      await cluster.runUntilIdle();
      expect(await client.get(builtin.configMap, key)).toMatchObject({ data: { a: "1" } });
      await declare([]);
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
      expect(await client.get(builtin.node, nodeKey)).toBeUndefined();
    });

    test("are deleted before their parent is gone", async () => {
      const { cluster, client, namespace, key } = await everywhere((elsewhere) => [
        elsewhere({ a: "1" }),
        node,
      ]);
      const finalize = (finalizers: readonly string[] | null) =>
        client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { finalizers } } });
      await finalize(["example.com/slow"]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await client.get(builtin.node, nodeKey)).toBeUndefined();
      expect(await cluster.get(websiteKind, "a")).toBeDefined();
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        reason: "ChildrenNotDeleted",
        message: `These children are being deleted: ConfigMap ${namespace}/a. Look at their finalizers.`,
      });
      const runs = cluster.runs.length;
      await finalize(null);
      await cluster.runUntilIdle();
      expect(cluster.runs[runs]?.reasons).toEqual([`Deleted ConfigMap ${namespace}/a`]);
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
      expect(await cluster.get(websiteKind, "a")).toBeUndefined();
    });

    test("are deleted with their parent, also if they have just lost their labels", async () => {
      const { cluster, client, namespace, key } = await everywhere((elsewhere) => [
        elsewhere({ a: "1" }),
        elsewhere({ b: "1" }, "b"),
      ]);
      const [lost, released] = [key, objectKey({ namespace, name: "b" })];
      const labels = { "drover.dev/controller": null, "drover.dev/owner-uid": null };
      const without = (metadata: object) => ({ type: "merge", body: { metadata } }) as const;
      await client.patch(builtin.configMap, lost, without({ labels }));
      const annotations = { "drover.dev/parent": null };
      await client.patch(builtin.configMap, released, without({ labels, annotations }));
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await cluster.get(websiteKind, "a")).toBeUndefined();
      expect(await client.get(builtin.configMap, lost)).toBeUndefined();
      expect(await client.get(builtin.configMap, released)).toBeDefined();
      await client.delete(builtin.configMap, released);
    });

    test("are deleted when they are no longer declared, also if they have just lost their labels", async () => {
      const { client, declare, key } = await everywhere((elsewhere) => [elsewhere({ a: "1" })]);
      const labels = { "drover.dev/controller": null, "drover.dev/owner-uid": null };
      await client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { labels } } });
      await declare([]);
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
    });

    test("stay with Orphan, without marks, or with Retain, for a parent that declares them again", async () => {
      const { cluster, client, namespace, key } = await everywhere((elsewhere) => [
        { object: elsewhere({ a: "1" }), deletion: "Orphan" },
        { object: elsewhere({ b: "1" }, "b"), deletion: "Retain" },
      ]);
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await cluster.get(websiteKind, "a")).toBeUndefined();
      const orphan = await client.get(builtin.configMap, key);
      expect(JSON.stringify([orphan?.metadata.labels, orphan?.metadata.annotations])).not.toContain(
        "drover.dev",
      );
      const retained = objectKey({ namespace, name: "b" });
      await cluster.apply(website({ html: "again" }));
      await cluster.runUntilIdle();
      expect(await client.get(builtin.configMap, retained)).toMatchObject({ data: { b: "1" } });
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        reason: "ChildNameTaken",
        message: expect.stringMatching(/^ConfigMap a: .*has no controller/) as string,
      });
      await client.delete(builtin.configMap, key);
      await client.delete(builtin.configMap, retained);
    });

    test("may only be in the namespaces that are declared for their kind", async () => {
      const { cluster, client, namespace, key } = await everywhere((elsewhere) => [elsewhere({ a: "1" })], {
        owns: ownsEverywhere.slice(0, 1).map((owned) => ({ ...owned, namespaces: ["other"] })),
      });
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        message: `children[0] is in the namespace ${namespace}, which is not among the namespaces in owns for ConfigMap.`,
      });
    });

    test("are left to another owner, which is not named to the users of the parent", async () => {
      const { cluster, client, namespace, key, declare, elsewhere } = await everywhere((elsewhere) => [
        elsewhere({}),
      ]);
      const { metadata: owner } = await client.create(builtin.secret, {
        metadata: { namespace, name: "theirs" },
      });
      const ownerReferences = [controllerReference({ ref: builtin.secret, metadata: owner })];
      await client.patch(builtin.configMap, key, { type: "merge", body: { metadata: { ownerReferences } } });
      const annotations = { "drover.dev/parent": "Website.example.com/theirs/b" };
      await client.create(builtin.configMap, { metadata: { namespace, name: "b", annotations } });
      const earlier = {
        labels: { "drover.dev/controller": "websites.example.com", "drover.dev/owner-uid": "another" },
        annotations: { "drover.dev/parent": "Website.example.com/default/a" },
      };
      await client.create(builtin.configMap, { metadata: { namespace, name: "c", ...earlier } });
      await declare([elsewhere({}), elsewhere({}, "b"), elsewhere({}, "c")]);
      const { message } = (await conditionOf(cluster, "Ready")) as unknown as { message: string };
      expect(message).toMatch(
        /^ConfigMap a: .* belongs to another object\. .*ConfigMap b: .* belongs to another object\..*ConfigMap c: .* another object/,
      );
      expect(message).not.toContain("theirs");
    });

    test.each([
      { annotations: { "drover.dev/parent": null } },
      { annotations: { "drover.dev/parent": "Website.example.com/theirs/a" } },
      { labels: { "drover.dev/controller": null, "drover.dev/owner-uid": null } },
    ])("are set back if others write %j", async (metadata) => {
      const { cluster, client, key } = await everywhere((elsewhere) => [elsewhere({ a: "1" })]);
      const { uid } = (await client.get(builtin.configMap, key))?.metadata ?? expect.fail();
      await client.patch(builtin.configMap, key, { type: "merge", body: { metadata } });
      await cluster.apply(website({ html: "again" }));
      await cluster.advance("1s");
      expect(await client.get(builtin.configMap, key)).toMatchObject({
        metadata: {
          uid,
          labels: { "drover.dev/controller": "websites.example.com" },
          annotations: { "drover.dev/parent": "Website.example.com/default/a" },
        },
      });
    });

    test("and have lost their marks are reported, and become children again with adopt", async () => {
      const { cluster, client, namespace, key, declare, elsewhere } = await everywhere((elsewhere) => [
        elsewhere({ a: "1", b: "1" }),
      ]);
      await client.replace(builtin.configMap, {
        metadata: { namespace, name: "a" },
        data: { a: "1", b: "2" },
      });
      await declare([elsewhere({ a: "1", b: "1" })]);
      expect(await conditionOf(cluster, "Ready")).toMatchObject({
        reason: "ChildNameTaken",
        message: expect.stringMatching(
          /but fields of this one: it was released, or replaced.* adopt, or delete/,
        ) as string,
      });
      await declare([{ object: elsewhere({ a: "1", b: "1" }), adopt: true }]);
      expect(await client.get(builtin.configMap, key)).toMatchObject({ data: { b: "1" } });
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
    });

    test("are finalized after the function has finalized its own", async () => {
      const seen: unknown[] = [];
      const opened = await everywhere((elsewhere) => [elsewhere({ a: "1" })], {
        finalize: async () => void seen.push(await opened.client.get(builtin.configMap, opened.key)),
      });
      const { cluster, client, key } = opened;
      await cluster.delete(websiteKind, "a");
      await cluster.runUntilIdle();
      expect(seen).toMatchObject([{ data: { a: "1" } }]);
      expect(await cluster.get(websiteKind, "a")).toBeUndefined();
      expect(await client.get(builtin.configMap, key)).toBeUndefined();
    });
  });
}
