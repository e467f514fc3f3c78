import { afterAll, expect, it } from "vitest";
import { s3Truth } from "../end-to-end/stage/s3-truth.ts";
import { bucket } from "../end-to-end/stage/world.ts";
import { startDroverInPods } from "./drover-in-pods.ts";
import { eventually } from "./pod-cluster.ts";

const drover = await startDroverInPods();
afterAll(() => drover.stop());
const keys = { accessKeyId: "local", secretAccessKey: "secret" };
const truth = s3Truth({ url: drover.s3Url, region: "us-east-1", ...keys });
afterAll(() => truth.close());

const many = (prefix: string) => Array.from({ length: 20 }, (_, i) => `${prefix}-${i}`);
const ready = (...names: readonly string[]) =>
  drover.wait("condition=Ready", ...names.map((name) => `bucket/${name}`));

it("a Bucket becomes Ready, and the S3 server has the bucket", async () => {
  await drover.apply(bucket("first"));
  await ready("first");
  expect(await truth.names()).toContain("first");
});

it("a Bucket that is changed is reconciled", async () => {
  await drover.apply(bucket("first", { versioning: "Enabled", tags: { team: "farm" } }));
  await eventually(async () => {
    const { tags, versioning } = (await truth.bucket("first")) ?? {};
    expect([tags?.["team"], versioning]).toEqual(["farm", "Enabled"]);
  });
});

it("Buckets become Ready though the only pod of the function is killed while it works on them", async () => {
  await drover.apply(...many("killed").map((name) => bucket(name)));
  await drover.kubectl(["delete", "pods", "-l", "app=bucket", "--grace-period=0", "--force"]);
  await ready(...many("killed"));
  expect(await truth.names()).toEqual(expect.arrayContaining(many("killed")));
});

it("nothing is lost when the bridge and the function are rolled out anew, and Valkey's container is killed", async () => {
  await drover.kubectl(["scale", "deployment/bucket", "--replicas=2"]);
  await drover.kubectl(["rollout", "restart", "deployment/bridge", "deployment/bucket"]);
  await drover.apply(...many("rolled").map((name) => bucket(name)));
  await drover.exec(["pkill", "-KILL", "valkey-server"]);
  await ready(...many("rolled"));
  await drover.kubectl(["rollout", "status", "deployment/bridge", "deployment/bucket", "--timeout=120s"]);
  await drover.apply(bucket("after-rollout"));
  await ready("after-rollout");
});

it("Buckets that are deleted are gone, from the S3 server too", async () => {
  await drover.kubectl(["delete", "buckets", "--all", "--timeout=120s"]);
  expect(await truth.names()).toEqual([]);
});
