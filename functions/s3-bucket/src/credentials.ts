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
export type S3Keys = z.output<typeof secretSchema>;

/** The identity with which requests are sent. */
export interface S3Credentials {
  /** Undefined: the function's own credentials, from the places where AWS tools look for them. */
  readonly keys: S3Keys | undefined;
  /** A role that is assumed with them. */
  readonly role: { readonly arn: string; readonly externalId: string } | undefined;
}

/** Secrets are not watched: time until one that was missing or wrong is read again. */
const lookAgain = "30s";

/**
 * The credentials that a spec names.
 *
 * @param roles the roles that may be assumed with the function's own credentials: see `config.ts`.
 * @throws RetryAfterError `SecretMissing` or `SecretMalformed`, with keys but no values in its message; `RoleNotAllowed`.
 */
export async function readCredentials(
  context: BucketContext,
  roles: readonly string[],
): Promise<S3Credentials> {
  const { spec, metadata } = context;
  const keys = spec.credentialsSecret && (await readKeys(context, spec.credentialsSecret.name));
  if (spec.assumeRole === undefined) return { keys, role: undefined };
  const { roleArn: arn } = spec.assumeRole;
  const { namespace = "" } = metadata;
  if (keys === undefined && !roles.some((allowed) => allowed.replaceAll("{namespace}", namespace) === arn)) {
    throw new RetryAfterError(
      `This function may not act as ${arn} for the namespace ${namespace}. Have its operator add the role to ` +
        "DROVER_S3_ROLES, or name a Secret with keys in spec.credentialsSecret.",
      { after: lookAgain, reason: "RoleNotAllowed" },
    );
  }
  return { keys, role: { arn, externalId: namespace } };
}

async function readKeys(context: BucketContext, name: string): Promise<S3Keys> {
  const values = await context.readSecret(name);
  if (values === undefined) {
    throw new RetryAfterError(
      `There is no Secret ${name} in this namespace. ` +
        "Create it with the keys accessKeyId and secretAccessKey, or name another in spec.credentialsSecret.",
      { after: lookAgain, reason: "SecretMissing" },
    );
  }
  const parsed = secretSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const missing = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  throw new RetryAfterError(
    `Secret ${name} cannot be used: ${missing.join(" and ")} missing or empty. ` +
      "It needs accessKeyId and secretAccessKey, and sessionToken for temporary keys.",
    { after: lookAgain, reason: "SecretMalformed" },
  );
}
