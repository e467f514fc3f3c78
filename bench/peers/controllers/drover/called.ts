import { serveFunction } from "@drover/runtime";
import { calledGaugeConfig } from "./config.ts";
import { countedGauges } from "./gauge-controller.ts";

await serveFunction({ name: "gauge", settings: calledGaugeConfig, controller: countedGauges });
