import { createHash } from "node:crypto";
import { fromTemporaryCredentials } from "@aws-sdk/credential-providers";
import type { HttpHandlerUserInput } from "@smithy/core/protocols";
import { type Milliseconds, RetryAfterError } from "@drover/controller";
import type { AwsServer } from "./aws-settings.ts";
import type { AwsCredentials, AwsKeys } from "./credentials.ts";

type Identity = ReturnType<typeof identityOf>;

/** The options that clients of every AWS service take. */
export interface ClientOptions {
  readonly region: string;
  readonly maxAttempts: number;
  readonly requestHandler: HttpHandlerUserInput;
  readonly endpoint?: string;
  /** Left out: the SDK's own search. */
  readonly credentials?: Identity | ReturnType<typeof fromTemporaryCredentials>;
}

/** Clients of one service, by credentials and region. All use one pool of connections. */
export interface AwsClients<Client> {
  get(credentials: AwsCredentials, region: string): Client;
  close(): void;
}

interface PooledClient {
  readonly config: { readonly requestHandler: HttpHandlerUserInput };
  destroy(): void;
}

const maxClients = 64;

/**
 * Clients are kept because the SDK looks up credentials and endpoints once for each. If there are too many, the one
 * used least recently is dropped. A dropped client may still be in use and needs no closing, because connections belong
 * to the pool: requests are signed one by one, so a connection has no credentials.
 */
export function awsClients<Client extends PooledClient>(
  server: AwsServer,
  open: (options: ClientOptions) => Client,
): AwsClients<Client> {
  const pool = open(optionsOf(server, ownCredentials, "us-east-1"));
  const { requestHandler } = pool.config;
  const clients = new Map<string, Client>();
  return {
    get(credentials, region) {
      const id = hashOf([region, ...partsOf(credentials), credentials.keys?.sessionToken]);
      const client = clients.get(id) ?? open({ ...optionsOf(server, credentials, region), requestHandler });
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

const ownCredentials: AwsCredentials = { keys: undefined, role: undefined };

function optionsOf(server: AwsServer, credentials: AwsCredentials, region: string): ClientOptions {
  const provider = providerOf(server, credentials, region);
  return {
    region,
    ...requestsOf(server.timeout),
    ...(server.endpoint !== undefined && { endpoint: server.endpoint }),
    ...(provider !== undefined && { credentials: provider }),
  };
}

/**
 * The queue does the retries, where they can be seen and paused. If the SDK repeated a creation after a lost answer, the
 * resource would look like another owner's.
 */
const requestsOf = (timeout: Milliseconds) => ({
  maxAttempts: 1,
  requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
});

/** Undefined for the SDK's own search. */
function providerOf(
  { endpoint, stsEndpoint = endpoint, timeout }: AwsServer,
  { keys, role }: AwsCredentials,
  region: string,
): ClientOptions["credentials"] {
  if (role === undefined) return keys && identityOf(keys);
  const temporary = fromTemporaryCredentials({
    ...(keys !== undefined && { masterCredentials: identityOf(keys) }),
    params: { RoleArn: role.arn, RoleSessionName: "drover", ExternalId: role.externalId },
    clientConfig: {
      region,
      ...requestsOf(timeout),
      ...(stsEndpoint !== undefined && { endpoint: stsEndpoint }),
    },
  });
  return () => temporary().catch((error: unknown) => Promise.reject(refusedRole(role, error)));
}

/** The SDK's error contains the request, so only its name is kept. */
const refusedRole = ({ arn, externalId }: NonNullable<AwsCredentials["role"]>, error: unknown): Error =>
  new RetryAfterError(
    `The role ${arn} cannot be assumed (${error instanceof Error ? error.name : "unknown error"}). Allow it in the ` +
      `role's trust policy, for the credentials in use and the external id ${JSON.stringify(externalId)}.`,
    { after: "1m", reason: "RoleRefused" },
  );

const identityOf = ({ accessKeyId, secretAccessKey, sessionToken }: AwsKeys) => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken !== undefined && { sessionToken }),
});

/** The name of the account for the queue, which must not contain keys. All that use the same keys and role share it. */
export const accountOf = (credentials: AwsCredentials): string =>
  credentials.keys === undefined && credentials.role === undefined
    ? "own"
    : hashOf(partsOf(credentials)).slice(0, 16);

const partsOf = ({ keys, role }: AwsCredentials): readonly (string | undefined)[] => [
  keys?.accessKeyId,
  keys?.secretAccessKey,
  role?.arn,
  role?.externalId,
];

/** JSON quotes the parts, so no two different inputs give the same text. */
const hashOf = (parts: readonly (string | undefined)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
