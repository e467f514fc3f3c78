import { processSettings, readSettings } from "@drover/runtime";
import { z } from "zod";

const bridgeSettings = processSettings.extend({
  /** A YAML file of ReconcileFunctions, or a folder of such files. */
  functions: z.string(),
});
export type BridgeSettings = z.output<typeof bridgeSettings>;

export const bridgeConfig = (): BridgeSettings => readSettings(bridgeSettings, process.env);
