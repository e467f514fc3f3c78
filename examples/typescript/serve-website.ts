import { serveFunction } from "drover/runtime";
import { servedConfig } from "./config.ts";
import { websites } from "./website.ts";

await serveFunction({
  name: "websites",
  settings: servedConfig,
  controller: () => ({ controller: websites }),
});
