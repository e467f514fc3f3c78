import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { cronJobController } from "./cron-job-controller.ts";

await runFunction({
  name: "cronjob",
  settings: functionConfig,
  controller: () => ({ controller: cronJobController() }),
});
