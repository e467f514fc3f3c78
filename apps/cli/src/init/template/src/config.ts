import { functionSettings, readSettings } from "drover/runtime";

/**
 * The settings of this process, from its environment. Add yours with `functionSettings.extend({ ... })`. An invalid
 * value appears in the error message only if its field is marked `nonSecret(...)`.
 */
export const functionConfig = () => readSettings(functionSettings, process.env);
