import { type FunctionUnderTest, type Manifest, testCluster } from "@drover/testing";
import { Bucket } from "../bucket.ts";
import { bucketController } from "../bucket-controller.ts";
import { s3ConfigSchema } from "../config.ts";
import bucketFunction from "../function.ts";
import { s3BucketPorts } from "../s3/s3-bucket-port.ts";

/** Starts the function, which uses the outside server `s3`. */
export const startBuckets: FunctionUnderTest = ({ outside }) => {
  const ports = s3BucketPorts(s3ConfigSchema.parse({ s3Endpoint: outside["s3"], s3Timeout: "5s" }));
  return { controllers: [bucketController(ports)], close: () => ports.close() };
};

/** The Secret with the credentials of the server of the tests. */
export const keysManifest: Manifest = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "keys" },
  stringData: { accessKeyId: "local", secretAccessKey: "local-secret" },
};

/** A Bucket object with those credentials. */
export const bucketManifest = (
  name: string,
  spec: object = {},
  annotations: Readonly<Record<string, string>> = {},
): Manifest => ({
  apiVersion: Bucket.apiVersion,
  kind: Bucket.kind,
  metadata: { name, annotations },
  spec: { credentialsSecret: { name: keysManifest.metadata.name }, ...spec },
});

/** A cluster with the function as it is deployed, and with the Secret. */
export async function openBucketCluster(s3: string, deployedAs = bucketFunction) {
  const cluster = await testCluster(startBuckets, { outside: { s3 }, deployedAs });
  await cluster.apply(keysManifest);
  return cluster;
}
