import { functionSettings, readSettings, servedSettings } from "@drover/runtime";

export const pullConfig = () => readSettings(functionSettings, process.env);
export const pushConfig = () => readSettings(servedSettings, process.env);
