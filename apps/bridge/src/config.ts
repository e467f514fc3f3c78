import { partSettings, plain, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";
import { followSettings } from "./follow-settings.ts";

const bridgeSettings = followSettings.extend({
  ...partSettings.shape,
  /** A YAML file of ReconcileFunctions, or a folder of such files. Left out: those of the cluster, as they come and go. */
  functions: plain(z.string().optional()),
  /** Where events are taken, apart from what is for us: 0 takes a free port. Left out: nowhere. */
  hooksPort: plain(wholeNumber({ least: 0, most: 65_535 }).optional()),
  hooksHost: plain(z.string().default("127.0.0.1")),
  /** A folder with the secrets of hooks that are registered by files, as `<name>/<key>`. */
  hookSecrets: z.string().optional(),
});
export type BridgeSettings = z.output<typeof bridgeSettings>;

export const bridgeConfig = (): BridgeSettings => readSettings(bridgeSettings, process.env);
