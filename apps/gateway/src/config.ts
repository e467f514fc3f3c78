import {
  flag,
  partSettings,
  parsedBy,
  plain,
  processSettings,
  readSettings,
  span,
  wholeNumber,
  wordsIn,
} from "@drover/runtime";
import { z } from "zod";
import { parseAllowed } from "./targets/allowed-urls.ts";
import { parseNetworks } from "./targets/addresses.ts";

/** A list of words, as text in the environment. Left out: none. */
const listOf = <Value>(parse: (words: readonly string[]) => Value) =>
  z
    .string()
    .default("")
    .transform(parsedBy((text) => parse(wordsIn(text))));

const gatewaySettings = processSettings.extend({
  ...partSettings.shape,
  /**
   * Which `webhook.url`s may be called: origins, or host suffixes, such as `https://hooks.example.com
   * https://*.example.org:8443`. Left out: none.
   */
  webhookAllow: plain(listOf(parseAllowed)),
  /** Networks that calls may go to though they are private, such as `127.0.0.0/8` in development. */
  webhookNetworks: plain(listOf(parseNetworks)),
  /**
   * `true`: also call Services without a selector, whose endpoints are written by hand. Then every user who may write
   * EndpointSlices in a function's namespace can have the gateway call any address of the cluster.
   */
  webhookUnselected: flag,
  /** Where functions that have answered 202 send the result: 0 takes a free port. Left out: nowhere. */
  completionsPort: plain(wholeNumber({ least: 0, most: 65_535 }).optional()),
  completionsHost: plain(z.string().default("127.0.0.1")),
  /** How functions reach that. Default: by host and port. */
  completionsUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** A dead gateway's key is taken over after this time. */
  lease: plain(span.default(6_000)),
  leaseRenewal: plain(span.default(400)),
});
export type GatewaySettings = z.output<typeof gatewaySettings>;

export const gatewayConfig = (): GatewaySettings => readSettings(gatewaySettings, process.env);
