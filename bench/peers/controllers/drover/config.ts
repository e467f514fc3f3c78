import { embeddedSettings } from "@drover/embedded";
import { functionSettings, readSettings, servedSettings } from "@drover/runtime";
import { z } from "zod";

const bench = {
  runsFile: z.string(),
  workMs: z.coerce.number(),
  copies: z.stringbool(),
};

/**
 * The settings of this process, from its environment; `DROVER_RUNS_FILE` gets the number of its runs, `DROVER_WORK_MS`
 * is the time for which each run waits, and `DROVER_COPIES` turns cached objects on.
 */
export const gaugeConfig = () => readSettings(functionSettings.extend(bench), process.env);
/** Likewise, of the function with a bridge in its process. */
export const embeddedGaugeConfig = () => readSettings(embeddedSettings.extend(bench), process.env);
/** Likewise, of the function that is called. */
export const calledGaugeConfig = () => readSettings(servedSettings.extend(bench), process.env);
