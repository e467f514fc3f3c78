import { defineController, defineResource } from "@drover/controller";
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

const Gauge = defineResource({
  group: "peers.drover.dev",
  version: "v1",
  kind: "Gauge",
  scope: "Namespaced",
  spec: z.object({ turn: z.int(), notes: z.string().default(""), fails: z.boolean().default(false) }),
  status: z.object({}),
});

interface Settings {
  readonly workMs: number;
  readonly copies: boolean;
}

/** The same controller with Drover, which writes `observedGeneration` by itself. */
const gaugeController = (onRun: () => void, { workMs, copies }: Settings) =>
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

/** Writes the number of its runs when it ends, for both deliveries. */
export function countedGauges({ runsFile, ...settings }: Settings & { readonly runsFile: string }) {
  let runs = 0;
  return {
    controller: gaugeController(() => (runs += 1), settings),
    close: () => writeFile(runsFile, String(runs)),
  };
}
