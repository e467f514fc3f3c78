import { runFunction } from "@drover/runtime";
import { greetings } from "../../examples/typescript/greeting.ts";
import { functionConfig } from "./config.ts";

// The example is called over HTTP. Here the same controller takes its keys itself.
await runFunction({
  name: "greetings",
  settings: functionConfig,
  controller: () => ({ controller: greetings() }),
});
