import { type CORSRule, GetBucketCorsCommand, PutBucketCorsCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { readyOf } from "../../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";

const scene = await bucketSceneOfFile();
const rule = {
  allowedMethods: ["GET" as const, "PUT" as const],
  allowedOrigins: ["https://a.example", "https://b.example"],
  allowedHeaders: ["a", "b"],
  exposeHeaders: ["c", "d"],
};
const specOf = (fields: object = {}) => ({ cors: { corsRules: [{ ...rule, ...fields }] } });

/** The result of a run, after the bucket got these rules from others. */
async function resultAfter(spec: object, CORSRules: CORSRule[]) {
  const object = await scene.stableObject(spec);
  const Bucket = object.bucketName;
  await scene.s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
  return readyOf(await object.reconcile());
}

const found = {
  AllowedMethods: ["PUT", "GET"],
  AllowedOrigins: ["https://b.example", "https://a.example"],
  AllowedHeaders: ["b", "a"],
  ExposeHeaders: ["d", "c"],
};

test("Lists in another order, and fields that the spec does not name, are no drift", async () => {
  expect(await resultAfter(specOf(), [found])).toBeUndefined();
  expect(await resultAfter(specOf(), [{ ...found, ID: "x", MaxAgeSeconds: 5 }])).toBeUndefined();
});

test.each<[string, object, CORSRule]>([
  ["a method", {}, { ...found, AllowedMethods: ["GET"] }],
  ["an origin", {}, { ...found, AllowedOrigins: ["https://b.example", "*"] }],
  ["a header of responses", {}, { ...found, ExposeHeaders: ["c"] }],
  ["headers, where the spec allows none", { allowedHeaders: undefined }, found],
  ["headers of responses, where the spec exposes none", { exposeHeaders: [] }, found],
  ["the time", { maxAgeSeconds: 0 }, { ...found, MaxAgeSeconds: 5 }],
])("Another rule is drift: %s", async (_, fields, other) => {
  expect(await resultAfter(specOf(fields), [other])).toMatchObject({ reason: "Drifted" });
});

test("One more rule is drift, and goes", async () => {
  const object = await scene.stableObject(specOf());
  const Bucket = object.bucketName;
  const CORSConfiguration = { CORSRules: [found, found] };
  await scene.s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }));
  expect(readyOf(await object.reconcile())).toMatchObject({ reason: "Drifted" });
  await object.reconcileUntilStable();
  const { CORSRules } = await scene.s3.send(new GetBucketCorsCommand({ Bucket }));
  expect(CORSRules).toHaveLength(1);
});

test("Rules that S3 refuses are an invalid setting", async () => {
  scene.proxy.faultOn("PutBucketCors", { status: 400, code: "InvalidRequest" });
  const result = await scene.object(specOf()).reconcileUntilStable();
  expect(readyOf(result)).toMatchObject({ reason: "InvalidSetting" });
  expect(readyOf(result)?.message).toContain("Correct spec.cors.");
});
