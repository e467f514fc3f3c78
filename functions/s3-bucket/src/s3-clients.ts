import { createHash } from "node:crypto";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import type { S3Config } from "./config.ts";
import type { S3Credentials } from "./credentials.ts";
import { encodeNames } from "./s3-listing.ts";

/** Clients by credentials and region, all on one pool of connections. */
export interface S3Clients {
  get(credentials: S3Credentials | undefined, region: string): S3Client;
  close(): void;
}

const mostClients = 64;

/**
 * Clients are kept because the SDK looks up credentials and endpoints once for each. They are few: the one used longest
 * ago goes when there are too many. A client that goes may still be in use and needs no closing, because connections are
 * the pool's: requests are signed one by one, so a connection has no credentials.
 */
export function s3Clients(config: S3Config): S3Clients {
  const pool = new S3Client(optionsOf(config, undefined, config.s3Region));
  const { requestHandler } = pool.config;
  const clients = new Map<string, S3Client>();
  return {
    get(credentials, region) {
      const id = hashOf(credentials, region);
      const client = clients.get(id) ?? opened({ ...optionsOf(config, credentials, region), requestHandler });
      clients.delete(id);
      clients.set(id, client);
      const [oldest] = clients.keys();
      if (clients.size > mostClients && oldest !== undefined) clients.delete(oldest);
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
    // Retrying is the queue's, which can be seen and paused; and a creation that is repeated unseen, after an answer
    // that was lost, would look like somebody else's bucket.
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

/** Neither half can run into the other: JSON quotes them. */
const hashOf = (credentials: S3Credentials | undefined, region: string): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        region,
        credentials?.accessKeyId,
        credentials?.secretAccessKey,
        credentials?.sessionToken,
      ]),
    )
    .digest("base64url");
