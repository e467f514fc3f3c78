import type { Milliseconds } from "@drover/controller";
import { builtin, keyOf, type KubeClient, type KubeObject, type NewObject, secretValues } from "@drover/kube";
import { type FunctionRef, ownedMetadata } from "../function-ref.ts";
import { applyObject, rejectForeignObject } from "../objects/apply-object.ts";
import { digest } from "../names.ts";

/** A secret that is changed regularly, and the one before it, which stays valid while a Pod may still use it. */
export interface RotatedSecret {
  readonly current: string;
  readonly previous?: string | undefined;
  /** When it became the current one, ISO 8601. */
  readonly since: string;
}

export interface RotatingSecretOptions {
  /** The name of the Secret object. */
  readonly name: string;
  /** The key of the current one in the Secret. The keys of the others are `previous` and `since`. */
  readonly key: string;
  readonly others?: Readonly<Record<string, string>>;
  readonly rotateEvery: Milliseconds;
  readonly make: () => string;
  /** The pattern of valid secrets. One that does not match is replaced. */
  readonly made: RegExp;
  /**
   * Called before the Secret is written: the server that checks the secrets must accept them before any Pod can read
   * them.
   */
  readonly announce?: (secrets: readonly string[]) => Promise<void>;
  /** True if every Pod uses the secret with this fingerprint. */
  readonly isUsedByAll: (fingerprint: string) => boolean;
  /** If true, the previous one is removed as soon as no Pod can be using it. If false, at the next change. */
  readonly forgets: boolean;
}

export interface RotationOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly now: Date;
}

/**
 * Creates the Secret, and changes the secret in it once that is older than `rotateEvery` and every Pod uses it.
 * @returns a fingerprint of the current secret.
 */
export async function rotateSecret(
  { client, signal, now }: RotationOptions,
  functionRef: FunctionRef,
  secret: RotatingSecretOptions,
): Promise<string> {
  const metadata = { name: secret.name, ...ownedMetadata(functionRef) };
  const present = await client.get(builtin.secret, keyOf({ metadata }), { signal });
  // Checked before its content is used: a user that may create Secrets must not choose a function's password.
  if (present !== undefined) rejectForeignObject(builtin.secret, present, functionRef);
  const rotated = nextSecret(readRotatedSecret(present, secret), secret, now);
  const { current, previous } = rotated;
  await secret.announce?.([current, ...(previous === undefined ? [] : [previous])]);
  await applyObject(
    { client, signal, owner: functionRef },
    builtin.secret,
    secretObject(metadata, rotated, secret, present !== undefined),
  );
  return digest(current);
}

function nextSecret(
  rotated: RotatedSecret | undefined,
  secret: RotatingSecretOptions,
  now: Date,
): RotatedSecret {
  const since = now.toISOString();
  if (rotated === undefined) return { current: secret.make(), since };
  const { current, previous } = rotated;
  if (!secret.isUsedByAll(digest(current))) return rotated;
  if (previous !== undefined && secret.forgets) return { current, since: rotated.since };
  return now.getTime() - Date.parse(rotated.since) < secret.rotateEvery
    ? rotated
    : { current: secret.make(), previous: current, since };
}

function readRotatedSecret(
  object: KubeObject | undefined,
  { key, made }: RotatingSecretOptions,
): RotatedSecret | undefined {
  if (object === undefined) return undefined;
  const { [key]: current = "", previous = "", since = "" } = secretValues(object);
  if (!made.test(current)) return undefined;
  return {
    current,
    ...(made.test(previous) && { previous }),
    since: Number.isNaN(Date.parse(since)) ? new Date(0).toISOString() : since,
  };
}

/**
 * Removes `previous` from the Secret when it is not used any more. An empty text would not do: a reader might take it
 * for a secret.
 */
function secretObject(
  metadata: NewObject["metadata"],
  { current, previous, since }: RotatedSecret,
  { key, others }: RotatingSecretOptions,
  isThere: boolean,
): NewObject {
  const texts = { ...others, [key]: current, since, ...(previous !== undefined && { previous }) };
  const data = Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  return {
    metadata,
    type: "Opaque",
    data: { ...Object.fromEntries(data), ...(isThere && previous === undefined && { previous: null }) },
  };
}
