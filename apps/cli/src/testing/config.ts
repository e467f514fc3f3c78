import { functionSettings, readSettings } from "@drover/runtime";

export const notesConfig = () => readSettings(functionSettings, process.env);

/** Our environment, without what tells programs that they are in a test, and without Drover's settings. */
export const plainEnvironment = (): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|DROVER_|npm_|NODE_ENV$|TEST$)/.test(name)),
  );
