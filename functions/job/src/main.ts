import { runFunction } from "@drover/runtime";
import { functionConfig } from "./config.ts";
import { jobController } from "./job-controller.ts";

await runFunction({
  name: "job",
  settings: functionConfig,
  controller: () => ({ controller: jobController() }),
});
