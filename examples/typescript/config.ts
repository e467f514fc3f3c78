import { readSettings, servedSettings, type ServedSettings } from "@drover/runtime";

export const greetingsConfig = (): ServedSettings => readSettings(servedSettings, process.env);
