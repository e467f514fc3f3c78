import { serveFunction } from "@drover/runtime";
import { greetingsConfig } from "./config.ts";
import { greetings } from "./greeting.ts";

await serveFunction({
  name: "greetings",
  settings: greetingsConfig,
  controller: () => ({ controller: greetings() }),
});
