import { functionSettings, readSettings } from "@drover/runtime";

/**
 * The settings of this process, from its environment. Add yours with `functionSettings.extend({ ... })`. Values that cannot
 * be used are shown only of fields that are marked `plain(...)`.
 */
export const functionConfig = () => readSettings(functionSettings, process.env);
