import { defineController, defineResource } from "@drover/controller";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

const Gauge = defineResource({
  ...{ group: "peers.drover.dev", version: "v1", kind: "Gauge", scope: "Namespaced" },
  spec: z.object({ turn: z.int(), notes: z.string().default(""), fails: z.boolean().default(false) }),
  status: z.object({}),
});

/** The same controller with Drover, which writes `observedGeneration` for everybody. */
export const gaugeController = (onRun: () => void, { workMs, copies }: { workMs: number; copies: boolean }) =>
  defineController({
    for: Gauge,
    copies,
    async reconcile({ spec }) {
      onRun();
      if (spec.fails) throw new Error("It is to fail.");
      if (workMs > 0) await delay(workMs);
      return { status: {} };
    },
  });
