import { runFunction } from "drover/runtime";
import { functionConfig } from "./config.ts";
import { controller } from "./controller.ts";

await runFunction({ name: "greeter", settings: functionConfig, controller: () => ({ controller }) });
