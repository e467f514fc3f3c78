import { readSettings, servedSettings, serveFunction } from "@drover/runtime";
import { greetings } from "./greeting.ts";
import process from "node:process";

await serveFunction({
  name: "greetings",
  settings: () => readSettings(servedSettings, process.env),
  controller: () => ({ controller: greetings() }),
});
