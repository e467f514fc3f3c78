import { type Milliseconds, objectKey } from "@drover/controller";
import { type KubeClient, readSecret, SecretError } from "@drover/kube";
import { readSecretFile } from "@drover/runtime";
import { join } from "node:path";
import type { Hook } from "../hook.ts";
import { schemeOf } from "./scheme-of.ts";

/** Reads a hook's secrets: several while they are rotated. Never logged, never stored in Redis. */
export type ReadSecrets = (hook: Hook) => Promise<readonly string[]>;

/** How long to wait for the API server while a sender waits. */
const readTimeout: Milliseconds = 3_000;
const mostSecrets = 10;

/**
 * For a function of the cluster, secrets are Secrets in its own namespace, read live. For one registered by a file,
 * they are files in `folder`, laid out as a mounted Secret: `<name>/<key>`.
 */
export function hookSecretReader(client: Pick<KubeClient, "get">, folder: string | undefined): ReadSecrets {
  return async (hook) => {
    const { functionNamespace, secretRef } = hook;
    const text =
      functionNamespace === undefined
        ? secretInFile(secretRef, folder)
        : await secretInCluster(client, functionNamespace, secretRef);
    return secretsIn(text, hook);
  };
}

async function secretInCluster(
  client: Pick<KubeClient, "get">,
  namespace: string,
  { name, key }: Hook["secretRef"],
): Promise<string> {
  const values = await readSecret(client, objectKey({ namespace, name }), {
    timeout: readTimeout,
    retries: 0,
  });
  const value = values?.[key];
  if (value !== undefined) return value;
  throw new SecretError(`The Secret ${namespace}/${name} has no key ${key}. Add it, or name another one.`);
}

function secretInFile({ name, key }: Hook["secretRef"], folder: string | undefined): string {
  if (folder === undefined) {
    throw new SecretError(
      `The secret ${name}/${key} cannot be found. Set DROVER_HOOK_SECRETS to a folder that contains it.`,
    );
  }
  return readSecretFile(join(folder, name, key));
}

function secretsIn(text: string, { verify, secretRef: { name, key } }: Hook): readonly string[] {
  const lines = text.split("\n").flatMap((line, i) => {
    const secret = line.trim();
    return secret === "" ? [] : [{ secret, at: i + 1 }];
  });
  if (lines.length === 0 || lines.length > mostSecrets) {
    throw new SecretError(
      `The secret ${name}/${key} has ${lines.length} lines. Give 1 to ${mostSecrets}, each a secret.`,
    );
  }
  for (const { secret, at } of lines) {
    const problem = schemeOf(verify).secretProblem(secret);
    if (problem !== undefined)
      throw new SecretError(`Line ${at} of ${name}/${key} ${problem}. Give another.`);
  }
  return lines.map(({ secret }) => secret);
}
