import { readSettings, servedSettings, type ServedSettings } from "drover/runtime";

export const servedConfig = (): ServedSettings => readSettings(servedSettings, process.env);
