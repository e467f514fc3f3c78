import { objectKey, type OutsideWrite } from "@drover/controller";
import { connect, refOf } from "@drover/kube";
import { startS3 } from "@drover/local-servers";
import { expect, onTestFinished, test } from "vitest";
import { planObject } from "../../apps/cli/src/plan/plan-object.ts";
import { planLines } from "../../apps/cli/src/plan/plan-output.ts";
import { Bucket } from "../../functions/s3-bucket/src/bucket.ts";
import { bucketController } from "../../functions/s3-bucket/src/bucket-controller.ts";
import { s3ConfigSchema } from "../../functions/s3-bucket/src/config.ts";
import { s3BucketPorts } from "../../functions/s3-bucket/src/s3/s3-bucket-port.ts";
import { bucketManifest, openBucketCluster } from "../../functions/s3-bucket/src/testing/bucket-cluster.ts";
import { bucketHandle, s3ClientOf } from "../../functions/s3-bucket/src/testing/bucket-handle.ts";

const key = objectKey({ namespace: "default", name: "a" });

/** A Bucket object, a plan for it, and the bucket as a client of its own sees it. */
async function openBucket() {
  const server = await startS3();
  onTestFinished(() => server.stop());
  const cluster = await openBucketCluster(server.url);
  onTestFinished(() => cluster.close());
  const client = await connect({ ...cluster.server });
  onTestFinished(() => client.close());
  const ports = s3BucketPorts(s3ConfigSchema.parse({ s3Endpoint: server.url, s3Timeout: "5s" }));
  onTestFinished(() => ports.close());
  const s3 = s3ClientOf(server);
  onTestFinished(() => s3.destroy());
  return {
    cluster,
    state: () => bucketHandle(s3, "team-a").state(),
    plan: async () => {
      const object = (await client.get(refOf(Bucket), key)) ?? expect.fail("There is no Bucket.");
      const plan = await planObject({
        controller: bucketController(ports),
        client,
        object,
        isStored: true,
        now: cluster.now,
      });
      return { ...plan, text: planLines(plan).join("\n") };
    },
  };
}

const bucket = (spec: object) => bucketManifest("a", { bucketName: "team-a", ...spec });
const targets = (outside: readonly OutsideWrite[]) => outside.map(({ does, target }) => `${does} ${target}`);

test("a bucket is planned without being written, and then made as planned", async () => {
  const { cluster, plan, state } = await openBucket();
  await cluster.apply(bucket({ versioning: "Enabled", tags: { team: "a" } }));
  const creation = await plan();
  expect(targets(creation.outside)).toEqual(["create bucket team-a", "set versioning of bucket team-a"]);
  expect(creation.end).toBe("What follows is not known before bucket team-a exists.");
  expect(creation.text).toContain('~ versioning of bucket team-a would be set: "Enabled"');
  expect(await state()).toBeUndefined();

  await cluster.runUntilIdle();
  expect(await plan()).toMatchObject({ outside: [], changes: [] });

  const before = await state();
  await cluster.apply(bucket({ versioning: "Suspended", tags: { team: "b" } }));
  const { outside, end, failure } = await plan();
  expect({ end, failure }).toEqual({ end: undefined, failure: undefined });
  expect(targets(outside).sort()).toEqual(["set tags of bucket team-a", "set versioning of bucket team-a"]);
  expect(await state()).toEqual(before);
  await cluster.runUntilIdle();
  const valueOf = (target: string) => outside.find((write) => write.target.startsWith(target))?.value;
  expect(await state()).toMatchObject({ versioning: valueOf("versioning"), tags: valueOf("tags") });
});

test("the deletion of a bucket is planned without being made", async () => {
  const { cluster, plan, state } = await openBucket();
  await cluster.apply(bucket({ onDelete: "Delete" }));
  await cluster.runUntilIdle();
  await cluster.delete({ apiVersion: Bucket.apiVersion, kind: Bucket.kind }, "a");
  const { outside, end, failure } = await plan();
  expect({ end, failure }).toEqual({ end: undefined, failure: undefined });
  expect(targets(outside).at(-1)).toBe("delete bucket team-a");
  expect(await state()).toBeDefined();
  await cluster.runUntilIdle();
  expect(await state()).toBeUndefined();
});
