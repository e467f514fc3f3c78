import { serveFunction } from "@drover/runtime";
import { pushConfig } from "./config.ts";
import { noops } from "./noop.ts";

await serveFunction({
  name: "push",
  settings: pushConfig,
  controller: () => ({ controller: noops("push") }),
});
