import { objectKey } from "@drover/controller";
import { builtin } from "@drover/kube";
import { redisUserRules } from "@drover/queue";
import type { X509Certificate } from "node:crypto";
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import {
  coversHosts,
  createAuthority,
  createServerCertificate,
  isDueForRenewal,
  isExpired,
  isOwnAuthority,
  isSignedBy,
  readCertificate,
  readCertifiedKey,
  type CertifiedKey,
} from "./certificates.ts";
import { keepObject, type KeepOptions } from "./kept-object.ts";

/** The parts of Drover, each with a Redis user of its name. */
const parts = ["bridge", "deployer", "gateway"] as const;
/** The users of an installation's Redis that have the role of their name: the parts, and people with the `drover` command. */
export const userRoles = [...parts, "operator"] as const;
/** All users of an installation's Redis but those of functions. */
export const redisUsers = ["admin", ...userRoles] as const;
export type RedisUser = (typeof redisUsers)[number];

/** The passwords and certificates for the Redis of an installation, as they are in the cluster now. */
export interface RedisSecrets {
  /** The certificates of the authorities to trust, as PEM. */
  readonly ca: string;
  /** The server's certificate, as it is in its Secret. */
  readonly certificate: X509Certificate;
  readonly passwords: Readonly<Record<RedisUser, string>>;
}

export interface RedisSecretsOptions extends KeepOptions {
  /** The hosts at which clients reach the server. */
  readonly hosts: readonly string[];
  readonly now: Date;
}

/**
 * Makes what is absent of the certificates, passwords and users of an installation's Redis, and renews certificates that
 * are past two thirds of their life. The names and keys of the objects are those that the manifests mount.
 *
 * @throws SetupError for an object that exists and cannot be used.
 */
export async function keepRedisSecrets(options: RedisSecretsOptions): Promise<RedisSecrets> {
  const authority = await keepAuthority(options);
  const server = await keepServerCertificate(options, authority, await trustedBefore(options));
  const certificate = readCertificate(server.certificate);
  const ca = await keepTrusted(options, readCertificate(authority.certificate), certificate);
  const entries: [RedisUser, string][] = [];
  for (const user of redisUsers) entries.push([user, await keepPassword(options, user)]);
  const passwords = Object.fromEntries(entries) as Record<RedisUser, string>;
  await keepUsers(options, passwords);
  return { ca, certificate, passwords };
}

const secret = builtin.secret;
const tls = { ref: secret, type: "kubernetes.io/tls" } as const;
const tlsValues = ({ certificate, key }: CertifiedKey) => ({ "tls.crt": certificate, "tls.key": key });
const certifiedKeyIn = (values: Readonly<Record<string, string>>): CertifiedKey => ({
  certificate: required(values, "tls.crt"),
  key: required(values, "tls.key"),
});

function required(values: Readonly<Record<string, string>>, key: string): string {
  const value = values[key] ?? "";
  if (value.trim() === "") throw new Error(`it has no ${key}`);
  return value;
}

/** The authority keeps its key: certificates that it has signed stay valid when its own is renewed. */
const keepAuthority = (options: RedisSecretsOptions): Promise<CertifiedKey> =>
  keepObject(options, {
    ...tls,
    name: "redis-authority",
    read(values) {
      const authority = certifiedKeyIn(values);
      const certificate = readCertifiedKey(authority);
      if (!isOwnAuthority(certificate)) {
        throw new Error(
          "its certificate is not that of an authority that a deployer has made. For an authority of your own, make the Secret " +
            "valkey-tls and the ConfigMap redis-ca with it",
        );
      }
      return authority;
    },
    make: async () => tlsValues(await createAuthority(options.now)),
    change: async ({ certificate, key }) =>
      isDueForRenewal(readCertificate(certificate), options.now)
        ? tlsValues(await createAuthority(options.now, key))
        : undefined,
  });

/** A certificate that clients already trust stays until it is due, also if its authority was replaced. */
function keepServerCertificate(
  options: RedisSecretsOptions,
  authority: CertifiedKey,
  trusted: readonly X509Certificate[],
): Promise<CertifiedKey> {
  const { hosts, now } = options;
  const authorities = [readCertificate(authority.certificate), ...trusted];
  // `kubectl port-forward` leads from there to the server.
  const names = [...new Set([...hosts, "localhost"])];
  const make = async () => tlsValues(await createServerCertificate(authority, names, now));
  return keepObject(options, {
    ...tls,
    name: "valkey-tls",
    read(values, isMade) {
      const server = certifiedKeyIn(values);
      const certificate = readCertifiedKey(server);
      if (isMade) return server;
      if (isExpired(certificate, now)) throw new Error("its certificate has expired");
      if (!coversHosts(certificate, hosts))
        throw new Error(`its certificate does not name ${hosts.join(", ")}`);
      return server;
    },
    make,
    change({ certificate: pem }) {
      const certificate = readCertificate(pem);
      const isGood =
        !isDueForRenewal(certificate, now) &&
        coversHosts(certificate, names) &&
        authorities.some((one) => isSignedBy(certificate, one));
      return isGood ? undefined : make();
    },
  });
}

const trustedName = "redis-ca";
const trustedKey = "ca.crt";

/** The certificates that clients trust now. Empty if there are none, or none that can be read. */
async function trustedBefore({
  client,
  namespace,
  signal,
}: KeepOptions): Promise<readonly X509Certificate[]> {
  const present = await client.get(builtin.configMap, objectKey({ namespace, name: trustedName }), {
    signal,
  });
  const schema = z.looseObject({ data: z.looseObject({ [trustedKey]: z.string() }) });
  try {
    return certificatesIn(schema.safeParse(present).data?.data[trustedKey] ?? "");
  } catch {
    return [];
  }
}

const certificatesIn = (pem: string): readonly X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(readCertificate);

/**
 * The authority's certificate, and those of authorities before it: the server may still present a certificate of one of
 * these, after its Secret has another. A user who deletes the ConfigMap removes them.
 */
function keepTrusted(
  options: RedisSecretsOptions,
  authority: X509Certificate,
  server: X509Certificate,
): Promise<string> {
  const wanted = (present: readonly X509Certificate[]) => {
    const others = present.filter(
      (one) => !isExpired(one, options.now) && !one.publicKey.equals(authority.publicKey),
    );
    return { [trustedKey]: [authority, ...others].map((one) => one.toString()).join("") };
  };
  return keepObject(options, {
    ref: builtin.configMap,
    name: trustedName,
    read(values, isMade) {
      const text = required(values, trustedKey);
      const certificates = certificatesIn(text);
      if (certificates.length === 0) throw new Error(`there is no certificate in ${trustedKey}`);
      if (!isMade && !certificates.some((one) => isSignedBy(server, one))) {
        throw new Error(
          `${trustedKey} has no authority that has signed the certificate in the Secret valkey-tls`,
        );
      }
      return text;
    },
    make: () => wanted([]),
    change(text) {
      const values = wanted(certificatesIn(text));
      return values[trustedKey] === text ? undefined : values;
    },
  });
}

const passwordKey = "password";

const keepPassword = (options: RedisSecretsOptions, user: RedisUser): Promise<string> =>
  keepObject(options, {
    ref: secret,
    name: `${user}-redis`,
    read(values) {
      // As processes read the file.
      const password = required(values, passwordKey).replace(/\r?\n$/, "");
      if (/[\r\n]/.test(password)) throw new Error(`its ${passwordKey} has more than one line`);
      return password;
    },
    make: () => ({ [passwordKey]: randomBytes(32).toString("base64url") }),
  });

/** The users as the server reads them when it starts. They follow from the passwords and from this version's rules. */
async function keepUsers(options: RedisSecretsOptions, passwords: RedisSecrets["passwords"]): Promise<void> {
  const hashOf = (user: RedisUser) => `#${createHash("sha256").update(passwords[user]).digest("hex")}`;
  const lines = [
    // No client can log in as this user. Redis 7.0 replays the transactions of its append-only file as this user, and drops those
    // that it may not run: with them, all that scripts have written.
    "user default off ~* &* +@all",
    `user admin on ~* &* +@all ${hashOf("admin")}`,
    ...userRoles.map(
      (role) => `user ${role} ${redisUserRules({ role, controllers: "all" })} ${hashOf(role)}`,
    ),
  ];
  const wanted = { "users.acl": lines.map((line) => `${line}\n`).join("") };
  await keepObject(options, {
    ref: secret,
    name: "valkey-users",
    read(values, isMade) {
      const text = values["users.acl"] ?? "";
      // Drover works without the user for people.
      const absent = (["admin", ...parts] as const).find((user) => !isMade && !text.includes(hashOf(user)));
      if (absent !== undefined) {
        throw new Error(
          `its users.acl does not have the password of ${absent}, which is in the Secret ${absent}-redis`,
        );
      }
      return text;
    },
    make: () => wanted,
    change: (text) => (text === wanted["users.acl"] ? undefined : wanted),
  });
}
