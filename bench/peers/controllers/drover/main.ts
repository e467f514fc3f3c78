import { runFunction } from "@drover/runtime";
import { gaugeConfig } from "./config.ts";
import { countedGauges } from "./gauge-controller.ts";

await runFunction({ name: "gauge", settings: gaugeConfig, controller: countedGauges });
