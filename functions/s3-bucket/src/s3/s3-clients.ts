import { createHash } from "node:crypto";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import type { S3Config } from "../config.ts";
import type { S3Credentials } from "../credentials.ts";
import { encodeNames } from "./list-items.ts";

/** Clients by credentials and region. All use one pool of connections. */
export interface S3Clients {
  get(credentials: S3Credentials | undefined, region: string): S3Client;
  close(): void;
}

const maxClients = 64;

/**
 * Clients are kept because the SDK looks up credentials and endpoints once for each. If there are too many, the one
 * used least recently is dropped. A dropped client may still be in use and needs no closing, because connections belong
 * to the pool: requests are signed one by one, so a connection has no credentials.
 */
export function s3Clients(config: S3Config): S3Clients {
  const pool = new S3Client(optionsOf(config, undefined, config.s3Region));
  const { requestHandler } = pool.config;
  const clients = new Map<string, S3Client>();
  return {
    get(credentials, region) {
      const id = hashOf([
        region,
        credentials?.accessKeyId,
        credentials?.secretAccessKey,
        credentials?.sessionToken,
      ]);
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

function optionsOf(config: S3Config, credentials: S3Credentials | undefined, region: string): S3ClientConfig {
  const { s3Endpoint: endpoint, s3Timeout: timeout, s3ForcePathStyle = endpoint !== undefined } = config;
  return {
    region,
    forcePathStyle: s3ForcePathStyle,
    // The queue does the retries, where they can be seen and paused. If the SDK repeated a creation after a lost
    // answer, the bucket would look like another owner's.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: timeout, requestTimeout: timeout, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials: identityOf(credentials) }),
  };
}

const identityOf = ({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials) => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken !== undefined && { sessionToken }),
});

/** The name of the account for the queue, which must not contain keys. All that know the same keys share it. */
export const accountOf = (credentials: S3Credentials | undefined): string =>
  credentials === undefined
    ? "own"
    : hashOf([credentials.accessKeyId, credentials.secretAccessKey]).slice(0, 16);

/** JSON quotes the parts, so no two different inputs give the same text. */
const hashOf = (parts: readonly (string | undefined)[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
