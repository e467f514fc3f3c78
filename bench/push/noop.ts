import { defineController, defineResource } from "@drover/controller";
import { z } from "zod";

/** A kind with an empty reconcile: the bench measures everything around it. */
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
