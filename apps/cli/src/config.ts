import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { z } from "zod";

const environment = z.looseObject({
  PATH: z.string().default(""),
  /** Of the processes that are started. */
  DROVER_LOG_LEVEL: z.string().default("info"),
  DROVER_REDIS_URL: z.string().optional(),
  KUBECONFIG: z.string().default(""),
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

/** Where a person's kubeconfig is: the first file of KUBECONFIG that there is, or the one in the home folder. */
export function usualKubeconfig(): string | undefined {
  const { KUBECONFIG } = environment.parse(process.env);
  const named = KUBECONFIG.split(delimiter).filter((path) => path !== "");
  const usual = named.length > 0 ? named : [join(homedir(), ".kube/config")];
  return usual.find((path) => existsSync(path));
}

/** Redis, where the environment names it. */
export const usualRedis = (): string | undefined => environment.parse(process.env).DROVER_REDIS_URL;
