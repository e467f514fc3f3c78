import { embeddedSettings, runEmbedded } from "@drover/embedded";
import { readSettings } from "@drover/runtime";
import { gadgetController } from "./gadgets.ts";

await runEmbedded({
  name: "gadgets",
  settings: () => readSettings(embeddedSettings, process.env),
  controller: () => ({ controller: gadgetController }),
});
