import { readSettings, servedSettings, serveFunction } from "@drover/runtime";
import { postings } from "./ledgers.ts";

await serveFunction({
  name: "postings",
  settings: () => readSettings(servedSettings, process.env),
  controller: () => ({ controller: postings }),
});
