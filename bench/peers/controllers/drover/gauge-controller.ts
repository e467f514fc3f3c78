import { defineController, defineResource } from "@drover/controller";
import { z } from "zod";

const Gauge = defineResource({
  ...{ group: "peers.drover.dev", version: "v1", kind: "Gauge", scope: "Namespaced" },
  spec: z.object({ turn: z.int(), notes: z.string().default("") }),
  status: z.object({}),
});

/** The same controller with Drover, which writes `observedGeneration` for everybody. */
export const gaugeController = (onRun: () => void) =>
  defineController({
    for: Gauge,
    reconcile: () => {
      onRun();
      return Promise.resolve({ status: {} });
    },
  });
