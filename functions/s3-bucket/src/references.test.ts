import { GetBucketLoggingCommand, PutBucketPolicyCommand } from "@aws-sdk/client-s3";

import { type Condition, customResourceDefinition } from "@drover/controller";
import { startS3 } from "@drover/local-servers";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { Bucket } from "./bucket.ts";
import { bucketController } from "./bucket-controller.ts";
import { s3ConfigSchema } from "./config.ts";
import { s3BucketPorts } from "./s3/s3-bucket-port.ts";
import { bucketManifest, openBucketCluster } from "./testing/bucket-cluster.ts";
import { s3ClientOf } from "./testing/bucket-handle.ts";

const server = await startS3();
const s3 = s3ClientOf(server);
afterAll(async () => {
  s3.destroy();
  await server.stop();
});

const kind = { apiVersion: "s3.drover.dev/v1alpha1", kind: "Bucket" };
const logsTo = (name: string, more: object = {}) => ({
  logging: { loggingEnabled: { targetBucketRef: { name }, targetPrefix: "web/" } },
  ...more,
});

/** moto refuses a target bucket that does not allow the service to write to it. */
const allowLogs = (Bucket: string) =>
  s3.send(
    new PutBucketPolicyCommand({
      Bucket,
      Policy: JSON.stringify({
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "logging.s3.amazonaws.com" },
            Action: "s3:PutObject",
            Resource: `arn:aws:s3:::${Bucket}/*`,
          },
        ],
      }),
    }),
  );
const target = async (Bucket: string): Promise<string | undefined> =>
  (await s3.send(new GetBucketLoggingCommand({ Bucket }))).LoggingEnabled?.TargetBucket;

async function openCluster() {
  const cluster = await openBucketCluster(server.url);
  return {
    cluster,
    condition: async (name: string, type: string): Promise<Condition | undefined> => {
      const found = await cluster.get(kind, name);
      const { conditions = [] } = (found?.["status"] ?? {}) as { conditions?: readonly Condition[] };
      return conditions.find((each) => each.type === type);
    },
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}

test("a reference to a Bucket is waited for, holds up no other setting, and its bucket is used once it is there", async () => {
  await using scene = await openCluster();
  const { cluster, condition } = scene;
  await cluster.apply(bucketManifest("web", logsTo("logs", { bucketName: "web-1", versioning: "Enabled" })));
  await cluster.runUntilIdle();
  expect(await condition("web", "Logging")).toMatchObject({ status: "False", reason: "ReferenceNotReady" });
  expect((await condition("web", "Logging"))?.message).toContain(
    "spec.logging.loggingEnabled.targetBucketRef refers to logs",
  );
  expect(await condition("web", "Versioning")).toMatchObject({ status: "True" });
  expect(await condition("web", "Ready")).toMatchObject({ status: "False" });

  await cluster.apply(bucketManifest("logs", { bucketName: "logs-1" }));
  await cluster.runUntilIdle();
  await allowLogs("logs-1");
  await cluster.advance("301s");
  expect(await target("web-1")).toBe("logs-1");
  expect(await condition("web", "Ready")).toMatchObject({ status: "True" });
});

test("the object is woken when the Bucket that it refers to gets its bucket", async () => {
  await using scene = await openCluster();
  const { cluster } = scene;
  await cluster.apply(bucketManifest("web", logsTo("logs", { bucketName: "web-2", pollInterval: "10h" })));
  await cluster.runUntilIdle();
  const before = cluster.runs.length;
  await cluster.apply(bucketManifest("logs", { bucketName: "logs-2" }));
  await cluster.advance("1s");
  expect(cluster.runs.slice(before).map(({ key }) => key)).toContain("default/web");
});

test("what was written stays, and stays recorded, while the reference is to an object that is not there", async () => {
  await using scene = await openCluster();
  const { cluster, condition } = scene;
  await cluster.apply(bucketManifest("logs", { bucketName: "logs-3" }));
  await cluster.runUntilIdle();
  await allowLogs("logs-3");
  await cluster.apply(bucketManifest("web", logsTo("logs", { bucketName: "web-3" })));
  await cluster.runUntilIdle();
  expect(await target("web-3")).toBe("logs-3");
  await cluster.apply(bucketManifest("web", logsTo("other", { bucketName: "web-3" })));
  await cluster.runUntilIdle();
  expect(await condition("web", "Logging")).toMatchObject({ reason: "ReferenceNotReady" });
  expect(await target("web-3")).toBe("logs-3");
  await cluster.apply(bucketManifest("web", { bucketName: "web-3" }));
  await cluster.runUntilIdle();
  expect(await target("web-3")).toBeUndefined();
});

test("a Bucket of another namespace is not found", async () => {
  await using scene = await openCluster();
  const { cluster, condition } = scene;
  await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
  const keys = { name: "keys", namespace: "other" };
  await cluster.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: keys,
    stringData: { accessKeyId: "local", secretAccessKey: "local-secret" },
  });
  const theirs = bucketManifest("logs", { bucketName: "logs-4" });
  await cluster.apply({ ...theirs, metadata: { ...theirs.metadata, namespace: "other" } });
  await cluster.apply(bucketManifest("web", logsTo("logs", { bucketName: "web-4" })));
  await cluster.runUntilIdle();
  expect(await condition("web", "Logging")).toMatchObject({ reason: "ReferenceNotReady" });
});

test("a bucket and a reference together, or none of them, are refused by the API server", async () => {
  await using scene = await openCluster();
  const { cluster } = scene;
  for (const [name, loggingEnabled] of Object.entries({
    both: { targetBucket: "a", targetBucketRef: { name: "b" } },
    none: {},
  })) {
    await expect(cluster.apply(bucketManifest(name, { logging: { loggingEnabled } }))).rejects.toThrow(
      "spec.logging.loggingEnabled: Invalid value: Give targetBucket or targetBucketRef",
    );
  }
});

/** The paths of all references in a schema of a CRD. */
function referencesIn(schema: unknown, path: string): readonly string[] {
  const { properties = {}, items } = z
    .object({ properties: z.record(z.string(), z.unknown()).optional(), items: z.unknown().optional() })
    .parse(schema);
  if (items !== undefined) return referencesIn(items, `${path}[]`);
  return Object.entries(properties).flatMap(([field, part]) => {
    const at = path === "" ? field : `${path}.${field}`;
    return field.endsWith("Ref") ? [`${at}.name`] : referencesIn(part, at);
  });
}

test("every reference of the spec is watched", () => {
  const [version] = customResourceDefinition(Bucket).spec.versions;
  const { spec } = z
    .object({ properties: z.object({ spec: z.unknown() }) })
    .parse(version.schema.openAPIV3Schema).properties;
  const { watches } = bucketController(s3BucketPorts(s3ConfigSchema.parse({})));
  const watched = watches.map(({ names }) =>
    typeof names === "object" && "referencedBy" in names ? names.referencedBy : "",
  );
  expect(referencesIn(spec, "spec").toSorted()).toEqual(watched.toSorted());
});
