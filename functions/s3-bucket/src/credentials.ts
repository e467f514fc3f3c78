import { RetryAfterError } from "@drover/controller";
import { z } from "zod";
import type { BucketContext } from "./bucket.ts";

const text = z.string().trim().min(1);
const secretSchema = z.object({
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: text.optional(),
});

/** Keys of an S3 account. Never logged, never part of a message. */
export type S3Credentials = z.output<typeof secretSchema>;

/** Secrets are not watched: time until one that was missing or wrong is read again. */
const lookAgain = "30s";

/**
 * The credentials that a spec names.
 * @returns undefined if it names none, for the function's own credentials.
 * @throws RetryAfterError `SecretMissing` or `SecretMalformed`. Its message contains keys, never values.
 */
export async function readCredentials(context: BucketContext): Promise<S3Credentials | undefined> {
  const secret = context.spec.credentialsSecret;
  if (secret === undefined) return undefined;
  const values = await context.readSecret(secret.name);
  if (values === undefined) {
    throw new RetryAfterError(
      `There is no Secret ${secret.name} in this namespace. ` +
        "Create it with the keys accessKeyId and secretAccessKey, or name another in spec.credentialsSecret.",
      { after: lookAgain, reason: "SecretMissing" },
    );
  }
  const parsed = secretSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const keys = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  throw new RetryAfterError(
    `Secret ${secret.name} cannot be used: ${keys.join(" and ")} missing or empty. ` +
      "It needs accessKeyId and secretAccessKey, and sessionToken for temporary keys.",
    { after: lookAgain, reason: "SecretMalformed" },
  );
}
