// The same function with a runtime that is older than plans.
import { runFunction } from "@drover/runtime";
import { cupsController } from "./cups.ts";
import { olderConfig, variablesOfCups } from "./config.ts";

await runFunction({
  name: "cups",
  settings: olderConfig,
  controller: () => ({ controller: cupsController(variablesOfCups()) }),
});
