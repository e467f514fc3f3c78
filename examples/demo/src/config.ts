import { z } from "zod";

const environment = z.looseObject({
  PATH: z.string().default(""),
  /** Log level of the processes that are started. */
  DROVER_LOG_LEVEL: z.string().default("info"),
});

export interface DemoConfig {
  readonly path: string;
  readonly logLevel: string;
  /**
   * Returns variables to set for a Drover process, and `undefined` for every other `DROVER_` variable of this process:
   * a process refuses a setting that it does not know.
   */
  readonly processEnvironment: (settings: EnvironmentVariables) => EnvironmentVariables;
}

/** Variables; `undefined` removes one. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export function demoConfig(): DemoConfig {
  const { PATH: path, DROVER_LOG_LEVEL: logLevel } = environment.parse(process.env);
  const foreign = Object.keys(process.env).filter((name) => name.startsWith("DROVER_"));
  const without: EnvironmentVariables = Object.fromEntries(foreign.map((name) => [name, undefined]));
  return { path, logLevel, processEnvironment: (settings) => ({ ...without, ...settings }) };
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
