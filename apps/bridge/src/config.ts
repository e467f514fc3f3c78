import { partSettings, nonSecret, readSettings, wholeNumber } from "@drover/runtime";
import { z } from "zod";
import { followSettings } from "@drover/bridge";

/** All settings of the bridge. */
export const bridgeSettings = followSettings.extend({
  ...partSettings.shape,
  /** A YAML file of ReconcileFunctions, or a folder of such files. Default: watch those of the cluster. */
  functions: nonSecret(z.string().optional()),
  /**
   * Port of the listener for hook events, separate from the internal endpoints. 0 takes a free port. Default: no
   * listener.
   */
  hooksPort: nonSecret(wholeNumber({ least: 0, most: 65_535 }).optional()),
  /** The address of that listener. */
  hooksHost: nonSecret(z.string().default("127.0.0.1")),
  /** A folder with the secrets of hooks that files register, as `<name>/<key>`. */
  hookSecrets: z.string().optional(),
});
export type BridgeSettings = z.output<typeof bridgeSettings>;

export const bridgeConfig = (): BridgeSettings => readSettings(bridgeSettings, process.env);
