import { runFunction } from "@drover/runtime";
import { pullConfig } from "./config.ts";
import { noops } from "./noop.ts";

await runFunction({
  name: "pull",
  settings: pullConfig,
  controller: () => ({ controller: noops("pull") }),
});
