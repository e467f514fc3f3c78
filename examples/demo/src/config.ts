import { delimiter } from "node:path";

/** Variables; `undefined` removes one. */
type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * The environment of `drover dev`, and of the bucket function that it starts. Without other settings of Drover's: a process
 * refuses a setting that it does not know.
 *
 * @param programs folders to look for programs in first.
 */
export function devEnvironment(
  programs: readonly string[],
  settings: EnvironmentVariables,
): EnvironmentVariables {
  const { PATH = "", ...others } = process.env;
  const foreign = Object.keys(others).filter((name) => name.startsWith("DROVER_"));
  return {
    ...Object.fromEntries(foreign.map((name) => [name, undefined])),
    PATH: [...programs, PATH].join(delimiter),
    ...settings,
  };
}
