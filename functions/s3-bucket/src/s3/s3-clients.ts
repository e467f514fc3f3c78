import { S3Client } from "@aws-sdk/client-s3";
import { type AwsClients, awsClients } from "@drover/aws";
import type { S3Config } from "../config.ts";
import { encodeNames } from "./list-items.ts";

/** Clients of the server of the configuration. */
export function s3Clients(config: S3Config): AwsClients<S3Client> {
  const { s3Endpoint: endpoint, s3StsEndpoint: stsEndpoint, s3Timeout: timeout } = config;
  const forcePathStyle = config.s3ForcePathStyle ?? endpoint !== undefined;
  return awsClients({ endpoint, stsEndpoint, timeout }, (options) => {
    const client = new S3Client({ ...options, forcePathStyle });
    encodeNames(client);
    return client;
  });
}
