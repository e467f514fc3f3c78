import { runFunction } from "@drover/runtime";
import { writeFile } from "node:fs/promises";
import { gaugeConfig } from "./config.ts";
import { gaugeController } from "./gauge-controller.ts";

await runFunction({
  name: "gauge",
  settings: gaugeConfig,
  controller: ({ runsFile, workMs, copies }) => {
    let runs = 0;
    return {
      controller: gaugeController(() => (runs += 1), { workMs, copies }),
      close: () => writeFile(runsFile, String(runs)),
    };
  },
});
