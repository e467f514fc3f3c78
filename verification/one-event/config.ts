import { functionSettings, readSettings } from "@drover/runtime";

/** The settings of the function, from its environment. */
export const functionConfig = () => readSettings(functionSettings, process.env);
