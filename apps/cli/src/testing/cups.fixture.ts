import { defineResource } from "@drover/controller";
import { z } from "zod";

/** The kind of functions that are called. */
export const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({ tea: z.string() }),
  status: z.object({ filled: z.boolean() }),
});

/** As a ReconcileFunction names them in `for` and `owns`. */
export const cups = {
  group: "example.com",
  version: "v1",
  kind: "Cup",
  plural: "cups",
  scope: "Namespaced",
} as const;
export const configMaps = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
} as const;
