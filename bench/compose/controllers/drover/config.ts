import { functionSettings, readSettings } from "@drover/runtime";
import { z } from "zod";

/** The settings of the process, from its environment; `DROVER_RUNS_FILE` gets a line for each run. */
export const siteConfig = () => readSettings(functionSettings.extend({ runsFile: z.string() }), process.env);
