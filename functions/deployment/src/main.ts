import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { deploymentController } from "./deployment-controller.ts";

await runFunction({
  name: "deployment",
  settings: functionConfig,
  controller: () => ({ controller: deploymentController() }),
});
