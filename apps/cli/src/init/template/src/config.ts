import { functionSettings, readSettings } from "@drover/runtime";

/** The settings of this process, from its environment. Add yours with `functionSettings.extend({ ... })`. */
export const functionConfig = () => readSettings(functionSettings, process.env);
