import { runFunction } from "@drover/runtime";
import { functionConfig, variablesOfCups } from "./config.ts";
import { cupsController } from "./cups.ts";

await runFunction({
  name: "cups",
  settings: functionConfig,
  controller: (_settings, { client }) => ({ controller: cupsController(variablesOfCups(), client) }),
});
