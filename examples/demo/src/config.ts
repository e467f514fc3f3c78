import { z } from "zod";

const environment = z.looseObject({
  PATH: z.string().default(""),
  /** Log level of the processes that are started. */
  DROVER_LOG_LEVEL: z.string().default("info"),
});

export type DemoConfig = Readonly<ReturnType<typeof demoConfig>>;

/** Variables; `undefined` removes one. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export function demoConfig() {
  const { PATH: path, DROVER_LOG_LEVEL: logLevel } = environment.parse(process.env);
  const foreign = Object.keys(process.env).filter((name) => name.startsWith("DROVER_"));
  const without: EnvironmentVariables = Object.fromEntries(foreign.map((name) => [name, undefined]));
  /**
   * Returns variables to set for a Drover process, and `undefined` for every other `DROVER_` variable of this process:
   * a process refuses a setting that it does not know.
   */
  const processEnvironment = (settings: EnvironmentVariables): EnvironmentVariables => ({
    ...without,
    ...settings,
  });
  return { path, logLevel, processEnvironment };
}

/**
 * The variables by which AWS tools find credentials: `AWS_...`, and the home folder, which contains the profiles in
 * `.aws`.
 */
export const awsEnvironment = (): EnvironmentVariables =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name.startsWith("AWS_") || isHomeVariable.test(name)),
  );

/** Windows uses USERPROFILE. */
const isHomeVariable = /^(HOME|USERPROFILE)$/;
