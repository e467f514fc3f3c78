import { defineController, defineResource } from "@drover/controller";
import { z } from "zod";

/** A kind whose reconcile does nothing: what is measured is all that is around it. */
export const Noop = defineResource({
  group: "bench.drover.dev",
  version: "v1",
  kind: "Noop",
  scope: "Namespaced",
  spec: z.object({}),
  status: z.object({}),
});

export const noops = (name: string) =>
  defineController({ for: Noop, name, concurrency: 8, reconcile: () => Promise.resolve(undefined) });
