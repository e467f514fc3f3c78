import { z } from "zod";

const environment = z.looseObject({
  DROVER_REDIS_URL: z.string().optional(),
  DROVER_REDIS_CA_FILE: z.string().optional(),
});

/** Variables; `undefined` removes one. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** This process's environment, for a command that must use a certain kubeconfig. */
export const commandEnvironment = (kubeconfig: string): EnvironmentVariables => ({
  ...process.env,
  KUBECONFIG: kubeconfig,
  DROVER_KUBECONFIG: kubeconfig,
});

/** The URL of Redis, if the environment sets it. */
export const defaultRedisUrl = (): string | undefined => environment.parse(process.env).DROVER_REDIS_URL;

/** The file with the CA certificates to trust for `rediss://`, if the environment sets it. */
export const defaultRedisCaFile = (): string | undefined =>
  environment.parse(process.env).DROVER_REDIS_CA_FILE || undefined;
