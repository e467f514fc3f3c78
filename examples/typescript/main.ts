import { serveFunction } from "drover/runtime";
import { servedConfig } from "./config.ts";
import { greetings } from "./greeting.ts";

await serveFunction({
  name: "greetings",
  settings: servedConfig,
  controller: () => ({ controller: greetings() }),
});
