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

/** This process's environment, for a function that `drover dev` starts: with these settings in place of its own. */
export const pulledFunctionEnvironment = (settings: EnvironmentVariables): EnvironmentVariables => ({
  ...process.env,
  ...settings,
});

/** This process's environment, for a called function that a command starts: with the settings that a deployed one gets. */
export const calledFunctionEnvironment = (settings: {
  readonly audience: string;
  readonly uid: string;
  /** The folder with the secret. */
  readonly secrets: string;
  readonly port: number;
}): EnvironmentVariables => ({
  ...process.env,
  // Neither the command's own settings nor access to a cluster: a function that is called has no other.
  ...Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name === "KUBECONFIG" || name.startsWith("DROVER_"))
      .map((name) => [name, undefined]),
  ),
  DROVER_WEBHOOK_AUDIENCE: settings.audience,
  DROVER_WEBHOOK_UID: settings.uid,
  DROVER_WEBHOOK_SECRETS: settings.secrets,
  DROVER_HTTP_HOST: "127.0.0.1",
  DROVER_HTTP_PORT: String(settings.port),
});

/** The URL of Redis, if the environment sets it. */
export const defaultRedisUrl = (): string | undefined => environment.parse(process.env).DROVER_REDIS_URL;

/** The file with the CA certificates to trust for `rediss://`, if the environment sets it. */
export const defaultRedisCaFile = (): string | undefined =>
  environment.parse(process.env).DROVER_REDIS_CA_FILE || undefined;
