import { defineController, defineResource } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { z } from "zod";

export const Site = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ title: z.string() }),
  status: z.object({ page: z.string().optional() }),
});
export const siteKind = { apiVersion: "example.com/v1", kind: "Site" };
export const site = (name: string, title: string) => ({ ...siteKind, metadata: { name }, spec: { title } });
export const configMapKind = { apiVersion: "v1", kind: "ConfigMap" };

/** A controller that keeps a page, a ConfigMap, for each site. */
export const siteController = (client: KubeClient) =>
  defineController({
    for: Site,
    owns: [{ kind: { ...builtin.configMap, scope: "Namespaced" } }],
    async reconcile({ key, spec, metadata, guard }) {
      const data = { html: `<h1>${spec.title}</h1>` };
      const { uid, name, namespace = "" } = metadata;
      const owner = { ...siteKind, name, uid, controller: true };
      const there = await client.get(builtin.configMap, key);
      const mine = client.guarded(guard);
      if (there === undefined) {
        await mine.create(builtin.configMap, {
          metadata: { name, namespace, ownerReferences: [owner] },
          data,
        });
      } else if (there.metadata.ownerReferences?.some((one) => one.uid === uid) !== true) {
        throw new Error(`The ConfigMap ${key} belongs to another controller.`);
      } else if (JSON.stringify(there["data"]) !== JSON.stringify(data)) {
        await mine.patch(builtin.configMap, key, { type: "merge", body: { data } });
      }
      return { status: { page: name } };
    },
  });
