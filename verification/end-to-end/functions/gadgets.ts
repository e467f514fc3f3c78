import { defineController, objectKey } from "@drover/controller";
import { functionSettings, readSettings, runFunction } from "@drover/runtime";
import { z } from "zod";
import { exampleKind } from "../../harness/example-kind.ts";

/** A kind with objects that depend on ConfigMaps by a mapping in code. */
export const Gadget = exampleKind("Gadget");

/** A ConfigMap that concerns the gadgets of these names, with blanks between them. */
export const mapFor = (names: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  data: { names },
  metadata: { name: "m", namespace: "default", labels: { gadgets: "yes" } },
});

const mapSchema = z.looseObject({ data: z.record(z.string(), z.string()).optional() });

export const gadgetController = defineController({
  for: Gadget,
  name: "gadgets",
  retry: { first: "100ms" },
  watches: [
    {
      kind: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" },
      labelSelector: { matchLabels: { gadgets: "yes" } },
      names: ({ object }) => {
        const { names = "" } = mapSchema.parse(object).data ?? {};
        const { namespace = "" } = object.metadata;
        return Promise.resolve(names.split(" ").map((name) => objectKey({ namespace, name })));
      },
    },
  ],
  reconcile: () => Promise.resolve(undefined),
});

/** The command of a Pod that runs them. */
export const gadgetsCommand = [process.execPath, import.meta.filename];

if (import.meta.main) {
  await runFunction({
    name: "gadgets",
    settings: () => readSettings(functionSettings, process.env),
    controller: () => ({ controller: gadgetController }),
  });
}
