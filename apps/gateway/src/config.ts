import {
  flag,
  partSettings,
  parseWith,
  nonSecret,
  readSettings,
  wholeNumber,
  splitWords,
  workerSettings,
} from "@drover/runtime";
import { z } from "zod";
import { parseAllowed } from "./targets/allowed-urls.ts";
import { parseNetworks } from "./targets/addresses.ts";

/** A list of words, as text in the environment. Default: empty. */
const listOf = <Value>(parse: (words: readonly string[]) => Value) =>
  z
    .string()
    .default("")
    .transform(parseWith((text) => parse(splitWords(text))));

/** All settings of the gateway. */
export const gatewaySettings = workerSettings.extend({
  ...partSettings.shape,
  /**
   * The `webhook.url`s that may be called: origins, or host suffixes, such as `https://hooks.example.com
   * https://*.example.org:8443`. Default: none.
   */
  webhookAllow: nonSecret(listOf(parseAllowed)),
  /** Networks that calls may go to although they are private, such as `127.0.0.0/8` in development. */
  webhookNetworks: nonSecret(listOf(parseNetworks)),
  /**
   * `true`: also call Services without a selector, which have endpoints that are written by hand. Then every user that
   * may write EndpointSlices in a function's namespace can make the gateway call any address of the cluster.
   */
  webhookUnselected: flag,
  /**
   * The port for completions, which functions send after they have answered `accepted`. 0: any free port. Default:
   * completions are not taken.
   */
  completionsPort: nonSecret(wholeNumber({ least: 0, most: 65_535 }).optional()),
  /** The address of that listener. */
  completionsHost: nonSecret(z.string().default("127.0.0.1")),
  /** The URL at which functions reach that port. Default: by host and port. */
  completionsUrl: z.url({ protocol: /^https?$/ }).optional(),
});
export type GatewaySettings = z.output<typeof gatewaySettings>;

export const gatewayConfig = (): GatewaySettings => readSettings(gatewaySettings, process.env);
