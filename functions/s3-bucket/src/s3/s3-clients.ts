import { createHash } from "node:crypto";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { fromTemporaryCredentials } from "@aws-sdk/credential-providers";
import { type Milliseconds, RetryAfterError } from "@drover/controller";
import type { S3Config } from "../config.ts";
import type { S3Credentials, S3Keys } from "../credentials.ts";
import { encodeNames } from "./list-items.ts";

/** Clients by credentials and region. All use one pool of connections. */
export interface S3Clients {
  get(credentials: S3Credentials, region: string): S3Client;
  close(): void;
}

const maxClients = 64;

/**
 * Clients are kept because the SDK looks up credentials and endpoints once for each. If there are too many, the one
 * used least recently is dropped. A dropped client may still be in use and needs no closing, because connections belong
 * to the pool: requests are signed one by one, so a connection has no credentials.
 */
export function s3Clients(config: S3Config): S3Clients {
  const pool = new S3Client(optionsOf(config, ownCredentials, config.s3Region));
  const { requestHandler } = pool.config;
  const clients = new Map<string, S3Client>();
  return {
    get(credentials, region) {
      const id = hashOf([region, ...partsOf(credentials), credentials.keys?.sessionToken]);
      const client = clients.get(id) ?? opened({ ...optionsOf(config, credentials, region), requestHandler });
      clients.delete(id);
      clients.set(id, client);
      const [oldest] = clients.keys();
      if (clients.size > maxClients && oldest !== undefined) clients.delete(oldest);
      return client;
    },
    close() {
      clients.clear();
      pool.destroy();
    },
  };
}

function opened(options: S3ClientConfig): S3Client {
  const client = new S3Client(options);
  encodeNames(client);
  return client;
}

const ownCredentials: S3Credentials = { keys: undefined, role: undefined };

function optionsOf(config: S3Config, credentials: S3Credentials, region: string): S3ClientConfig {
  const { s3Endpoint: endpoint, s3Timeout: timeout, s3ForcePathStyle = endpoint !== undefined } = config;
  const provider = providerOf(config, credentials, region);
  return {
    region,
    forcePathStyle: s3ForcePathStyle,
    ...requestsOf(timeout),
    ...(endpoint !== undefined && { endpoint }),
    ...(provider !== undefined && { credentials: provider }),
  };
}

/**
 * The queue does the retries, where they can be seen and paused. If the SDK repeated a creation after a lost answer, the
 * bucket would look like another owner's.
 */
const requestsOf = (timeout: Milliseconds) => ({
  maxAttempts: 1,
  requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
});

/** Undefined for the SDK's own search. */
function providerOf(
  { s3Endpoint, s3StsEndpoint = s3Endpoint, s3Timeout: timeout }: S3Config,
  { keys, role }: S3Credentials,
  region: string,
): S3ClientConfig["credentials"] {
  if (role === undefined) return keys && identityOf(keys);
  const temporary = fromTemporaryCredentials({
    ...(keys !== undefined && { masterCredentials: identityOf(keys) }),
    params: { RoleArn: role.arn, RoleSessionName: "drover", ExternalId: role.externalId },
    clientConfig: {
      region,
      ...requestsOf(timeout),
      ...(s3StsEndpoint !== undefined && { endpoint: s3StsEndpoint }),
    },
  });
  return () => temporary().catch((error: unknown) => Promise.reject(refusedRole(role, error)));
}

/** The SDK's error contains the request, so only its name is kept. */
const refusedRole = ({ arn, externalId }: NonNullable<S3Credentials["role"]>, error: unknown): Error =>
  new RetryAfterError(
    `The role ${arn} cannot be assumed (${error instanceof Error ? error.name : "unknown error"}). Allow it in the ` +
      `role's trust policy, for the credentials in use and the external id ${JSON.stringify(externalId)}.`,
    { after: "1m", reason: "RoleRefused" },
  );

const identityOf = ({ accessKeyId, secretAccessKey, sessionToken }: S3Keys) => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken !== undefined && { sessionToken }),
});

/** The name of the account for the queue, which must not contain keys. All that use the same keys and role share it. */
export const accountOf = (credentials: S3Credentials): string =>
  credentials.keys === undefined && credentials.role === undefined
    ? "own"
    : hashOf(partsOf(credentials)).slice(0, 16);

const partsOf = ({ keys, role }: S3Credentials): readonly (string | undefined)[] => [
  keys?.accessKeyId,
  keys?.secretAccessKey,
  role?.arn,
  role?.externalId,
];

/** JSON quotes the parts, so no two different inputs give the same text. */
const hashOf = (parts: readonly (string | undefined)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
