import { defineFunction } from "@drover/controller";
import { variablesOfCups } from "./config.ts";
import { cupsController } from "./cups.ts";

export default defineFunction({ controller: cupsController(variablesOfCups()) });
