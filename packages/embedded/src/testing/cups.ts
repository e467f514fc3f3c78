import { defineController, defineFunction, defineResource } from "@drover/controller";
import { z } from "zod";
import { runEmbedded } from "../run-embedded.ts";
import { cupsConfig } from "./config.ts";

export const Cup = defineResource({
  group: "example.com",
  version: "v1",
  kind: "Cup",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({ tea: z.string() }),
});

/** A function that asks for everything that a function and a bridge in its process may ask the API server for. */
export const cups = defineFunction({
  controller: defineController({
    for: Cup,
    owns: [
      { kind: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" } },
    ],
    retry: { first: "50ms" },
    async reconcile({ readSecret }) {
      const { kind: tea } = (await readSecret("tea")) ?? {};
      if (tea === undefined) throw new Error("There is no tea yet."); // reported by an Event
      return { status: { tea } };
    },
    async finalize() {},
  }),
  namespace: "default",
  readsSecrets: ["tea"],
  deployment: { container: { image: "cups:1" }, concurrency: 3 },
});

if (import.meta.main) await runEmbedded({ name: "cups", settings: cupsConfig, controller: () => cups });
