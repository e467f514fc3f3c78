import { RetryAfterError } from "@drover/controller";
import { z } from "zod";

const text = z.string().trim().min(1);
const secretSchema = z.object({
  accessKeyId: text,
  secretAccessKey: text,
  sessionToken: text.optional(),
});

/** Keys of an account. Never logged, never part of a message. */
export type AwsKeys = z.output<typeof secretSchema>;

/** The identity with which requests are sent. */
export interface AwsCredentials {
  /** Undefined: the function's own credentials, from the places where AWS tools look for them. */
  readonly keys: AwsKeys | undefined;
  /** A role that is assumed with them. */
  readonly role: { readonly arn: string; readonly externalId: string } | undefined;
}

/** The fields of a spec that name its credentials. `rolesVariable` is the setting with the roles that may be assumed. */
export const credentialsSpec = (rolesVariable: string) => ({
  credentialsSecret: z
    .object({ name: z.string().min(1).max(253) })
    .optional()
    .describe(
      "A Secret in the same namespace with the keys accessKeyId, secretAccessKey and, where needed, sessionToken. " +
        "Default: the function's own AWS credentials.",
    ),
  assumeRole: z
    .object({
      roleArn: z
        .string()
        .max(2048)
        .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@\/-]+$/, "Give a role's ARN."),
    })
    .optional()
    .describe(
      "An AWS role to act as, by the credentials of the Secret. By the function's own, only roles that its operator " +
        `allows in ${rolesVariable}. The external id is the namespace of this object.`,
    ),
});

/** The part of a run's context that names its credentials. */
export interface CredentialsContext {
  readonly spec: z.output<z.ZodObject<ReturnType<typeof credentialsSpec>>>;
  readonly metadata: { readonly namespace?: string };
  readSecret(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** Secrets are not watched: time until one that was missing or wrong is read again. */
const lookAgain = "30s";

/**
 * The credentials that a spec names.
 *
 * @param roles the roles that may be assumed with the function's own credentials: see `aws-settings.ts`.
 * @throws RetryAfterError `SecretMissing` or `SecretMalformed`, with keys but no values in its message; `RoleNotAllowed`.
 */
export async function readCredentials(
  context: CredentialsContext,
  roles: { readonly allowed: readonly string[]; readonly variable: string },
): Promise<AwsCredentials> {
  const { spec, metadata } = context;
  const keys = spec.credentialsSecret && (await readKeys(context, spec.credentialsSecret.name));
  if (spec.assumeRole === undefined) return { keys, role: undefined };
  const { roleArn: arn } = spec.assumeRole;
  const { namespace = "" } = metadata;
  if (
    keys === undefined &&
    !roles.allowed.some((allowed) => allowed.replaceAll("{namespace}", namespace) === arn)
  ) {
    throw new RetryAfterError(
      `This function may not act as ${arn} for the namespace ${namespace}. Have its operator add the role to ` +
        `${roles.variable}, or name a Secret with keys in spec.credentialsSecret.`,
      { after: lookAgain, reason: "RoleNotAllowed" },
    );
  }
  return { keys, role: { arn, externalId: namespace } };
}

async function readKeys(context: CredentialsContext, name: string): Promise<AwsKeys> {
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
