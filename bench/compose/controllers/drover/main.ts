import { runFunction } from "@drover/runtime";
import { appendFileSync } from "node:fs";
import { siteConfig } from "./config.ts";
import { siteController } from "./site-controller.ts";

await runFunction({
  name: "site",
  settings: siteConfig,
  controller: ({ runsFile }) => ({
    controller: siteController((key) => appendFileSync(runsFile, `${key} ${process.hrtime.bigint()}\n`)),
  }),
});
