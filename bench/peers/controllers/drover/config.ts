import { embeddedSettings } from "@drover/embedded";
import { functionSettings, readSettings, servedSettings } from "@drover/runtime";
import { z } from "zod";

const bench = {
  runsFile: z.string(),
  workMs: z.coerce.number(),
  copies: z.stringbool(),
};

/**
 * The settings of this process, from its environment; `DROVER_RUNS_FILE` is told how often it ran, and `DROVER_WORK_MS`
 * says how long each run waits for something outside, `DROVER_COPIES` whether runs are given copies, and leave them.
 */
export const gaugeConfig = () => readSettings(functionSettings.extend(bench), process.env);
/** Likewise, of the function with a bridge in its process. */
export const embeddedGaugeConfig = () => readSettings(embeddedSettings.extend(bench), process.env);
/** Likewise, of the function that is called. */
export const calledGaugeConfig = () => readSettings(servedSettings.extend(bench), process.env);
