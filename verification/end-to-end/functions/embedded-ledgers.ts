import { embeddedSettings, runEmbedded } from "@drover/embedded";
import { readSettings } from "@drover/runtime";
import { ledgers } from "./ledgers.ts";

await runEmbedded({
  name: "ledgers",
  settings: () => readSettings(embeddedSettings, process.env),
  controller: (_, { client }) => ({ controller: ledgers(client) }),
});
