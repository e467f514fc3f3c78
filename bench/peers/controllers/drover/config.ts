import { functionSettings, readSettings } from "@drover/runtime";
import { z } from "zod";

const settings = functionSettings.extend({ runsFile: z.string() });

/** The settings of this process, from its environment; `DROVER_RUNS_FILE` is told how often it ran. */
export const gaugeConfig = () => readSettings(settings, process.env);
