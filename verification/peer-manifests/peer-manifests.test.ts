import { CreateBucketCommand, GetBucketLocationCommand, PutBucketPolicyCommand } from "@aws-sdk/client-s3";
import { bucketController, s3BucketPorts, s3ConfigSchema } from "@drover/s3-bucket";
import { type Manifest, testCluster } from "@drover/testing";
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import deployedAs from "../../functions/s3-bucket/src/function.ts";
import { bucketSceneOfFile } from "../../functions/s3-bucket/src/testing/bucket-scene.fixture.ts";
import { expected } from "./expected.ts";
import { portraitOf } from "./portrait.ts";
import { translate } from "./translate.ts";

/* The same bucket: a peer's manifest, translated, applied to a cluster with the shipped function, and read by the SDK. */
const scene = await bucketSceneOfFile();

beforeAll(async () => {
  const Bucket = "peers-logs";
  const CreateBucketConfiguration = { LocationConstraint: "us-west-1" } as const;
  await scene.s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration }));
  const Statement = [
    {
      Effect: "Allow",
      Principal: { Service: "logging.s3.amazonaws.com" },
      Action: "s3:PutObject",
      Resource: `arn:aws:s3:::${Bucket}/*`,
    },
  ];
  const Policy = JSON.stringify({ Version: "2012-10-17", Statement });
  await scene.s3.send(new PutBucketPolicyCommand({ Bucket, Policy }));
});
// The function's own credentials.
beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", scene.server.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", scene.server.secretAccessKey);
});

const open = () =>
  testCluster(
    ({ outside }) => {
      const ports = s3BucketPorts(s3ConfigSchema.parse({ s3Endpoint: outside["s3"] }));
      return { controllers: [bucketController(ports)], close: () => ports.close() };
    },
    { outside: { s3: scene.proxy.url }, deployedAs },
  );

const filesOf = (product: string) => readdirSync(new URL(`inputs/${product}/`, import.meta.url));
const manifestsOf = (product: string, file: string) =>
  translate(readFileSync(new URL(`inputs/${product}/${file}`, import.meta.url), "utf8"));
const applied = (manifest: unknown): Manifest => {
  const { metadata, ...rest } = manifest as Manifest;
  return { ...rest, metadata: { namespace: "default", ...metadata } };
};

describe.each(["ack", "crossplane"])("%s", (product) => {
  test("has an input for each expected state", () => {
    const names = filesOf(product).map((file) => file.replace(/\.yaml$/, ""));
    expect(names.sort()).toEqual(Object.keys(expected).sort());
  });

  test.each(Object.keys(expected))("%s", async (name) => {
    const { manifests, problems } = manifestsOf(product, `${name}.yaml`);
    expect(problems.filter(({ message }) => !message.includes("reads the owner"))).toEqual([]);
    await using cluster = await open();
    for (const manifest of manifests) await cluster.apply(applied(manifest));
    await cluster.runUntilIdle();
    const bucketName = `${product}-${name}`;
    expect(await portraitOf(scene.withConfigurations, bucketName)).toEqual(expected[name]);
    const { LocationConstraint } = await scene.s3.send(new GetBucketLocationCommand({ Bucket: bucketName }));
    const isElsewhere = product === "crossplane" || ["logging", "tagging"].includes(name);
    expect(LocationConstraint).toBe(isElsewhere ? "us-west-1" : undefined);
  });
});
