import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { daemonSetController } from "./daemon-set-controller.ts";

await runFunction({
  name: "daemonset",
  settings: functionConfig,
  controller: () => ({ controller: daemonSetController() }),
});
