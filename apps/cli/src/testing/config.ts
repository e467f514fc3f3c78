import { delimiter } from "node:path";
import { functionSettings, readSettings } from "@drover/runtime";

export const notesConfig = () => readSettings(functionSettings, process.env);

/**
 * Our environment, without the variables by which programs detect a test, and without Drover's settings. Programs are those of
 * the machine: npm puts others before them for what it runs.
 */
export function plainEnvironment(): Readonly<Record<string, string | undefined>> {
  const { PATH = "", ...others } = process.env;
  const own = Object.entries(others).filter(
    ([name]) => !/^(VITEST|DROVER_|LOCAL_|npm_|NODE_ENV$|TEST$)/.test(name),
  );
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { ...Object.fromEntries(own), PATH: folders.join(delimiter) };
}

/** Gives this process another environment. */
export const replaceEnvironment = (env: Readonly<Record<string, string>>): void => {
  process.env = { ...env };
};
