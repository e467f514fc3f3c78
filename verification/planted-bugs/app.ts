import type { SpecOf } from "@drover/controller";
import { builtin } from "@drover/kube";
import type { Manifest } from "@drover/testing";
import { z } from "zod";
import { exampleKind } from "../harness/example-kind.ts";

/** What every controller in this folder looks after. Each uses the fields that it needs. */
export const App = exampleKind("App", {
  spec: {
    text: z.string().default("").meta({ description: "The text of its children." }),
    child: z.string().default("").meta({ description: "What its child is called, or where it is." }),
    size: z.int().default(1).meta({ description: "How many children it has." }),
  },
  status: {
    child: z.string().optional(),
    said: z.string().optional(),
    id: z.string().optional(),
  },
});

export const app = (spec: Partial<SpecOf<typeof App>>, name = "a"): Manifest => ({
  apiVersion: "example.com/v1",
  kind: "App",
  metadata: { name },
  spec,
});
/** A step for each spec, which applies it. */
export const applied = (...specs: readonly Partial<SpecOf<typeof App>>[]) =>
  specs.map((spec) => ({ apply: app(spec) }));

export const configMapKind = { apiVersion: "v1", kind: "ConfigMap" } as const;

/** As `owns` wants it: a child that changes wakes its App. */
export const ownsConfigMaps = [{ kind: { ...builtin.configMap, scope: "Namespaced" } }] as const;
