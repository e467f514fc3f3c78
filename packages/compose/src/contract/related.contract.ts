import { objectKey } from "@drover/controller";
import { builtin, kindOf } from "@drover/kube";
import { describe, expect, test } from "vitest";
import { composedClusters, createNamespace, get, type Servers } from "./clusters.contract.ts";
import type { RelatedDefinition } from "../compose-controller.ts";
import { controllerOfWebsites, kinds, type Website, website } from "../website.fixture.ts";

const secret = kindOf(builtin.secret);

/** The promises about objects that a function reads beside the children. */
export function relatedContract(servers: () => Servers): void {
  const { open } = composedClusters(servers);

  /** A website with the names of all related objects in its only child. */
  const getting = async (...related: readonly RelatedDefinition<typeof Website>[]) => {
    const { cluster, client } = await open(
      controllerOfWebsites(
        ({ related: { all } }) => {
          const names = all.map(({ metadata }) => metadata.name).sort();
          return {
            children: [{ ...kinds.configMap, metadata: { name: "got" }, data: { names: names.join() } }],
          };
        },
        { related },
      ),
    );
    const got = async (): Promise<unknown> => {
      await cluster.runUntilIdle();
      return ((await get(cluster, "configMap", "got"))?.["data"] as { names: string }).names;
    };
    return { cluster, client, got };
  };
  type Opened = Awaited<ReturnType<typeof getting>>;
  const create = ({ client }: Opened, name: string, metadata: object = {}) =>
    client.create(builtin.secret, { metadata: { name, namespace: "default", ...metadata } });

  describe("related objects", () => {
    const referenced = { kind: secret, names: { referencedBy: "spec.tls.secretName" } };

    test("are read for each run, and their changes cause one", async () => {
      const opened = await getting(referenced);
      const { cluster, client, got } = opened;
      await cluster.apply(website({ html: "", tls: { secretName: "tls" } }));
      expect(await got()).toBe("");
      const runs = cluster.runs.length;
      await create(opened, "other");
      expect(await got()).toBe("");
      expect(cluster.runs.length).toBe(runs);
      await create(opened, "tls");
      expect(await got()).toBe("tls");
      await cluster.apply(website({ html: "", tls: { secretName: "other" } }));
      expect(await got()).toBe("other");
      await client.delete(builtin.secret, objectKey({ namespace: "default", name: "other" }));
      expect(await got()).toBe("");
    });

    const inspector = { metadata: { annotations: { website: "a" } } };
    test.each<[string, RelatedDefinition<typeof Website>, string]>([
      ["by a reference", referenced, "referenced"],
      ["by a selector", { kind: secret, names: { selectedBy: "spec.include" } }, "selected"],
      ["by a label", { kind: secret, names: { label: "website" } }, "labelled"],
      ["by an annotation", { kind: secret, names: { annotation: "website" } }, "annotated"],
      ["by a field", { kind: secret, names: { field: "metadata.annotations.website" } }, "annotated"],
      ["all", { kind: secret, names: { all: true } }, "annotated,labelled,referenced,selected"],
      ["by code", { kind: secret, names: ({ spec }) => [`${spec.html}led`] }, "labelled"],
      [
        "with labels",
        {
          kind: secret,
          names: { all: true },
          labelSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] },
        },
        "selected",
      ],
      ["in no followed namespace", { kind: secret, names: { all: true }, namespaces: ["elsewhere"] }, ""],
    ])("are found %s, in the namespace of their object only", async (_, related, names) => {
      const opened = await getting(related);
      const { cluster, client, got } = opened;
      const namespace = await createNamespace(client);
      await cluster.apply(
        website({
          html: "label",
          tls: { secretName: "referenced" },
          include: { matchLabels: { app: "web" } },
        }),
      );
      await cluster.runUntilIdle();
      const all = {
        referenced: {},
        selected: { labels: { app: "web" } },
        labelled: { labels: { website: "a" } },
        annotated: inspector.metadata,
      };
      for (const [name, more] of Object.entries(all)) {
        await create(opened, name, more);
        await create(opened, name, { ...more, namespace });
      }
      expect(await got()).toBe(names);
    });

    test("of other namespaces are not read, whatever the object names", async () => {
      const opened = await getting(referenced, {
        kind: secret,
        names: ({ spec }) => [spec.tls?.secretName ?? ""],
      });
      const namespace = await createNamespace(opened.client);
      await create(opened, "theirs", { namespace });
      await opened.cluster.apply(website({ html: "", tls: { secretName: `${namespace}/theirs` } }));
      expect(await opened.got()).toBe("");
    });

    test("may be cluster-scoped", async () => {
      const { cluster, client, got } = await getting({
        kind: kindOf(builtin.node),
        names: { referencedBy: "spec.html" },
      });
      await cluster.apply(website({ html: "related-node" }));
      expect(await got()).toBe("");
      const key = objectKey({ name: "related-node" });
      await client.create(builtin.node, { metadata: { name: "related-node" } });
      expect(await got()).toBe("related-node");
      await client.delete(builtin.node, key);
      expect(await got()).toBe("");
    });
  });
}
