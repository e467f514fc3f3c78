import { durationSchema, milliseconds } from "@drover/controller";
import { processSettings, readSettings } from "@drover/runtime";
import { z } from "zod";

const bridgeSettings = processSettings.extend({
  /** A YAML file of ReconcileFunctions, or a folder of such files. Left out: those of the cluster, as they come and go. */
  functions: z.string().optional(),
  /** How often what a stream told is compared with a listing, which finds what its watch has missed. */
  compareEvery: durationSchema.transform(milliseconds).default(30 * 60_000),
});
export type BridgeSettings = z.output<typeof bridgeSettings>;

export const bridgeConfig = (): BridgeSettings => readSettings(bridgeSettings, process.env);
