import { runEmbedded } from "@drover/embedded";
import { embeddedGaugeConfig } from "./config.ts";
import { countedGauges } from "./gauge-controller.ts";

await runEmbedded({ name: "gauge", settings: embeddedGaugeConfig, controller: countedGauges });
