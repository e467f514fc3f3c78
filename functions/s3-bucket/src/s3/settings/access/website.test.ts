import { GetBucketWebsiteCommand, PutBucketWebsiteCommand, type RoutingRule } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { readyOf } from "../../../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../../../testing/bucket-scene.fixture.ts";
import { websiteSpec } from "./website.ts";

const scene = await bucketSceneOfFile();

const suffix = "index.html";
const rule = { redirect: { hostName: "a.example" } };
const found = { Redirect: { HostName: "a.example" } };
const specOf = (routingRules?: (typeof rule)[]) => ({
  website: { indexDocument: { suffix }, routingRules },
});

/** The result of a run, after the website got these rules from others. */
async function resultAfter(spec: object, RoutingRules: RoutingRule[]) {
  const object = await scene.stableObject(spec);
  const WebsiteConfiguration = {
    IndexDocument: { Suffix: suffix },
    ErrorDocument: { Key: "e" },
    RoutingRules,
  };
  await scene.s3.send(new PutBucketWebsiteCommand({ Bucket: object.bucketName, WebsiteConfiguration }));
  return readyOf(await object.reconcile());
}

test("Fields that the spec does not name, and an empty condition, are no drift", async () => {
  expect(await resultAfter(specOf([rule]), [{ ...found, Condition: {} }])).toBeUndefined();
});

test.each<[string, RoutingRule[]]>([
  ["a condition", [{ ...found, Condition: { KeyPrefixEquals: "a" } }]],
  ["another target", [{ Redirect: { HostName: "b.example" } }]],
  ["one more field of the target", [{ Redirect: { HostName: "a.example", Protocol: "http" } }]],
  ["one more rule", [found, { Redirect: { ReplaceKeyWith: "b" } }]],
])("Another routing rule is drift: %s", async (_, rules) => {
  expect(await resultAfter(specOf([rule]), rules)).toMatchObject({ reason: "Drifted" });
});

test("A routing rule where the spec has none is drift, and goes", async () => {
  const object = await scene.stableObject(specOf());
  const Bucket = object.bucketName;
  const WebsiteConfiguration = { IndexDocument: { Suffix: suffix }, RoutingRules: [found] };
  await scene.s3.send(new PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
  expect(readyOf(await object.reconcile())).toMatchObject({ reason: "Drifted" });
  expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  const { IndexDocument, RoutingRules } = await scene.s3.send(new GetBucketWebsiteCommand({ Bucket }));
  expect({ IndexDocument, RoutingRules }).toEqual({ IndexDocument: { Suffix: suffix } });
});

test("Codes are those of errors and of redirects", () => {
  const problemsOf = (code: string, redirectCode: string) =>
    websiteSpec
      .safeParse({
        routingRules: [
          { condition: { httpErrorCodeReturnedEquals: code }, redirect: { httpRedirectCode: redirectCode } },
        ],
      })
      .error?.issues.map(({ path }) => path.at(-1));
  expect(problemsOf("404", "301")).toBeUndefined();
  expect(problemsOf("503", "308")).toBeUndefined();
  expect(problemsOf("200", "404")).toEqual(["httpErrorCodeReturnedEquals", "httpRedirectCode"]);
  expect(problemsOf("40", "3011")).toEqual(["httpErrorCodeReturnedEquals", "httpRedirectCode"]);
});
