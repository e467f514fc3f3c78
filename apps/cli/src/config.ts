import { z } from "zod";

const environment = z.looseObject({
  PATH: z.string().default(""),
  /** Of the processes that are started. */
  DROVER_LOG_LEVEL: z.string().default("info"),
  DROVER_REDIS_URL: z.string().optional(),
  DROVER_REDIS_CA_FILE: z.string().optional(),
});

export interface CliConfig {
  readonly path: string;
  readonly logLevel: string;
  /**
   * Lays the environment of a process of Drover over our own, from which what was meant for other processes is taken
   * away: a setting that a process does not know is refused by it.
   */
  readonly processEnvironment: (settings: Environment) => Environment;
}

/** Variables; `undefined` takes one away. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function cliConfig(): CliConfig {
  const { PATH: path, DROVER_LOG_LEVEL: logLevel } = environment.parse(process.env);
  const foreign = Object.keys(process.env).filter((name) => name.startsWith("DROVER_"));
  const without: Environment = Object.fromEntries(foreign.map((name) => [name, undefined]));
  return { path, logLevel, processEnvironment: (settings) => ({ ...without, ...settings }) };
}

/**
 * The variables by which AWS tools find credentials: `AWS_...`, and the home folder, which has the profiles in `.aws`.
 */
export const awsEnvironment = (): Environment =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name.startsWith("AWS_") || isOfHome.test(name)),
  );

/** On Windows it is USERPROFILE. */
const isOfHome = /^(HOME|USERPROFILE)$/;

/** Our own, for a command that is to use a certain kubeconfig. */
export const commandEnvironment = (kubeconfig: string): Environment => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  DROVER_KUBECONFIG: kubeconfig,
});

/** Redis, where the environment names it. */
export const usualRedis = (): string | undefined => environment.parse(process.env).DROVER_REDIS_URL;

/** A file with the certificates that `rediss://` believes, where the environment names one. */
export const usualRedisCaFile = (): string | undefined =>
  environment.parse(process.env).DROVER_REDIS_CA_FILE || undefined;
