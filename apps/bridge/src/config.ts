import { durationSchema, milliseconds } from "@drover/controller";
import { authorsSetting, processSettings, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";

const bridgeSettings = processSettings.extend({
  /** A YAML file of ReconcileFunctions, or a folder of such files. Left out: those of the cluster, as they come and go. */
  functions: z.string().optional(),
  /** How often what a stream told is compared with a listing, which finds what its watch has missed. */
  compareEvery: durationSchema.transform(milliseconds).default(30 * 60_000),
  /** `checked`: follow for a function what the deployer has seen its author may see. `trusted`: what it says. */
  authors: authorsSetting.default("trusted"),
  /** Where events are taken, apart from what is for us: 0 takes a free port. Left out: nowhere. */
  hooksPort: wholeNumber({ least: 0, most: 65_535 }).optional(),
  hooksHost: z.string().default("127.0.0.1"),
  /** A folder with the secrets of hooks that are registered by files, as `<name>/<key>`. */
  hookSecrets: z.string().optional(),
});
export type BridgeSettings = z.output<typeof bridgeSettings>;

export const bridgeConfig = (): BridgeSettings => readSettings(bridgeSettings, process.env);
