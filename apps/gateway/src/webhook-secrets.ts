import { objectKey, RetryError, webhookSecretOf } from "@drover/controller";
import { type KubeClient, readSecret } from "@drover/kube";
import { secretProblem } from "@drover/webhook";

const keys = ["current", "previous"] as const;

/**
 * The secrets that a function and the gateway share: keys of the Secret `<name>-webhook` in the namespace of the
 * ReconcileFunction. The first is `current`. Read live; never logged, and kept in memory only.
 *
 * @throws RetryError that names what is missing, and never shows the content.
 */
export async function readWebhookSecrets(
  client: Pick<KubeClient, "get">,
  { namespace, controller }: { readonly namespace: string; readonly controller: string },
): Promise<readonly string[]> {
  const key = objectKey({ namespace, name: webhookSecretOf(controller) });
  const values = (await readSecret(client, key, { retries: 0 })) ?? {};
  const secrets = keys.flatMap((name) => {
    const secret = values[name]?.trim();
    if (secret === undefined) return [];
    const problem = secretProblem(secret);
    if (problem !== undefined)
      throw noSecretError(`The key ${name} of the Secret ${key} ${problem}. Give another.`);
    return [secret];
  });
  if (values["current"] !== undefined) return secrets;
  throw noSecretError(
    `The Secret ${key} has no key current. Create it, with whsec_ and 24 bytes or more in base64.`,
  );
}

const noSecretError = (message: string): RetryError => new RetryError(message, { reason: "NoSecret" });
