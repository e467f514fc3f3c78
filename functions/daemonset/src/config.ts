import { functionSettings, readSettings } from "@drover/runtime";

/** The settings of this process, from its environment. */
export const functionConfig = () => readSettings(functionSettings, process.env);
