import { RetryAfterError } from "@drover/controller";
import { describe, expect, test } from "vitest";

import { expectOwned, expectError, readyOf, expectRefusal } from "./testing/bucket-scene.ts";
import { bucketHandle, s3ClientOf } from "./testing/bucket-handle.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";
import { type S3Fault } from "./testing/s3-fault-proxy.ts";

const scene = await bucketSceneOfFile();

describe("a bucket that was there before", () => {
  test("is left alone, whatever its settings, and the condition names the option to adopt it", async () => {
    const object = scene.object({ versioning: "Enabled", tags: { team: "a" } });
    await object.bucket.make();
    const error = await expectRefusal(object.reconcileUntilStable(), "NotOwned");
    expect(error).toBeInstanceOf(RetryAfterError);
    expect(error.message).toContain("IfUnowned");
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("is adopted with its content and its tags where the spec allows it", async () => {
    const object = scene.object({ adopt: "IfUnowned", tags: { team: "a" } });
    await object.bucket.make();
    await object.bucket.setTags({ cost: "42" });
    await object.bucket.put();
    const result = await object.reconcileUntilStable();
    expect(result.status?.adopted).toBe(true);
    await expectOwned(object, { cost: "42", team: "a" });
    expect((await object.reconcile()).status?.adopted).toBe(true);
  });

  test("is known to be adopted by the run after one that died before its status write", async () => {
    const object = scene.object({ adopt: "IfUnowned" });
    await object.bucket.make();
    await object.reconcile();
    object.status = {};
    expect((await object.reconcile()).status?.adopted).toBe(true);
    expect((await object.reconcile()).status?.adopted).toBe(true);
  });

  test("and is another object's is never adopted", async () => {
    const first = await scene.stableObject({ tags: { team: "a" } });
    const before = await first.bucket.state();
    scene.proxy.forget();
    const second = scene.object({ bucketName: first.bucketName, adopt: "IfUnowned", tags: { team: "b" } });
    const error = await expectRefusal(second.reconcileUntilStable(), "NotOwned");
    expect(error.message).toContain(first.key);
    expect(scene.proxy.writes()).toEqual([]);
    expect(await first.bucket.state()).toEqual(before);
  });

  test("and is another account's is never adopted, though it can be read", async () => {
    const object = scene.object({ adopt: "IfUnowned", credentialsSecret: { name: "elsewhere" } });
    const credentials = await keysOfAnotherAccount(scene.server.url);
    scene.secrets.set("elsewhere", credentials);
    await object.bucket.make();
    // The list of an account's buckets is asked for by what names begin with.
    await bucketHandle(s3ClientOf(scene.server, credentials), `${object.bucketName}-logs`).make();
    const error = await expectRefusal(object.reconcileUntilStable(), "NotOwned");
    expect(error.message).toContain("another account");
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("and was ours, but is another bucket of that name now, is left alone", async () => {
    const object = await scene.stableObject();
    do {
      await object.bucket.delete();
      await object.bucket.make();
      // Times of creation are whole seconds.
    } while ((await object.bucket.state())?.createdAt?.toISOString() === object.status.createdAt);
    scene.proxy.forget();
    await expectRefusal(object.reconcileUntilStable(), "NotOwned");
    expect(scene.proxy.writes()).toEqual([]);
  });
});

describe("between our last look and the creation", () => {
  test.each(["us-east-1", "eu-west-1"])(
    "another client makes the bucket and uses it, in %s",
    async (region) => {
      const object = scene.object({ region });
      await object.reconcile();
      scene.proxy.before("CreateBucket", async () => {
        await object.bucket.make();
        await object.bucket.put();
      });
      const error = await expectError(object.reconcile());
      expect(error).toMatchObject({ reason: "NotOwned" });
      expect(await object.bucket.tags()).toEqual({});
    },
  );

  test("we are refused; a bucket that is then made by hand is not adopted", async () => {
    const object = scene.object();
    scene.proxy.faultOn("CreateBucket", { status: 403, code: "AccessDenied" });
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)).toMatchObject({ status: "False", reason: "AccessDenied" });
    expect(object.status.creating).toBeUndefined();

    await object.bucket.make();
    await expectRefusal(object.reconcileUntilStable(), "NotOwned");
    expect(await object.bucket.tags()).toEqual({});
  });
});

test("of two objects that claim one bucket at once, one gets it and the other an error", async () => {
  const bucketName = scene.object().bucketName;
  const objects = [scene.object({ bucketName }), scene.object({ bucketName })];
  await Promise.allSettled(objects.map((object) => object.reconcileUntilStable()));
  const again = await Promise.allSettled(objects.map((object) => object.reconcileUntilStable()));
  const owner = (await scene.bucket(bucketName).tags())["drover.dev/owner-uid"];
  expect(objects.map(({ uid }, i) => [uid === owner, again[i]?.status])).toEqual(
    expect.arrayContaining([
      [true, "fulfilled"],
      [false, "rejected"],
    ]),
  );
});

test.each([
  ["it adopts", true],
  ["it has just made", false],
])("a bucket that %s, and another object tagged right after it, keeps its settings", async (_, isThere) => {
  const object = scene.object({ adopt: "IfUnowned", versioning: "Enabled" });
  if (isThere) await object.bucket.make();
  let tagged = false;
  scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
    if (tagged) await object.bucket.setTags({ "drover.dev/owner-uid": "another" });
    tagged = operation === "PutBucketTagging";
    return "none";
  };
  await expectRefusal(object.reconcileUntilStable(), "NotOwned");
  expect((await object.bucket.state())?.versioning).toBeUndefined();
});

test("a bucket whose owner was written and cannot be read yet is waited for, and its settings are not touched", async () => {
  const object = scene.object({ adopt: "IfUnowned", versioning: "Enabled" });
  await object.bucket.make();
  scene.proxy.faultOn("GetBucketTagging", { status: 404, code: "NoSuchTagSet" });
  expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
    reason: "OwnerNotVisible",
    after: "1s",
  });
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
});

test("a bucket that another object tags between our look and our tagging keeps those tags", async () => {
  const object = scene.object({ adopt: "IfUnowned" });
  await object.bucket.make();
  const others = { "drover.dev/owner-uid": "another", "drover.dev/owner": "web/other" };
  let looks = 0;
  scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
    if (operation === "GetBucketTagging" && ++looks === 2) await object.bucket.setTags(others);
    return "none";
  };
  await expectRefusal(object.reconcileUntilStable(), "NotOwned");
  expect(await object.bucket.tags()).toEqual(others);
});

describe("tags of a bucket without an owner", () => {
  test.each([
    ["of another object, beside our own mark of removal", { "drover.dev/owner-uid": "another" }, true],
    ["that mark it as being deleted by another object", { "drover.dev/removed-by": "another" }, false],
  ])("%s: it is never taken", async (_, tags, isRemoved) => {
    const object = scene.object({ adopt: "IfUnowned" });
    await object.bucket.make();
    const removal = isRemoved ? { "drover.dev/removed-by": object.uid } : {};
    await object.bucket.setTags({ ...tags, ...removal });
    expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
      reason: "NotOwned",
      after: "5m",
    });
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("of another client that made it while we were about to, empty as it is", async () => {
    const object = scene.object();
    await object.reconcile();
    await object.bucket.make();
    await object.bucket.setTags({ team: "theirs" });
    await expectRefusal(object.reconcile(), "NotOwned");
    expect(scene.proxy.writes()).toEqual([]);
  });
});

describe("where the credentials may not list buckets", () => {
  const unlisted = () => {
    scene.proxy.faultOn("ListBuckets", { status: 403, code: "AccessDenied" });
  };
  test("a bucket is adopted only when the spec names its account", async () => {
    const object = scene.object({ adopt: "IfUnowned", pollInterval: "90s" });
    await object.bucket.make();
    unlisted();
    expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
      reason: "NotOwned",
      after: "90s",
    });
    object.spec = { ...object.spec, accountId: "123456789012" };
    expect((await object.reconcileUntilStable()).status).toMatchObject({ adopted: true });
  });

  test("the status has no time of creation, and the next run asks for it again", async () => {
    const object = scene.object({ adopt: "IfUnowned", accountId: "123456789012" });
    await object.bucket.make();
    unlisted();
    expect((await object.reconcileUntilStable()).status).not.toHaveProperty("createdAt");
    scene.proxy.forget();
    const made = (await object.bucket.state())?.createdAt?.toISOString();
    expect((await object.reconcile()).status?.createdAt).toBe(made);
  });
});

test("a bucket is found in the list of an account's buckets on whichever page it is", async () => {
  const object = scene.object({ adopt: "IfUnowned" });
  await object.bucket.make();
  const page = (names: readonly string[], more = "") =>
    `<ListAllMyBucketsResult><Buckets>${names
      .map(
        (name) =>
          `<Bucket><Name>${name}</Name><CreationDate>2026-01-01T00:00:00.000Z</CreationDate></Bucket>`,
      )
      .join("")}</Buckets>${more}</ListAllMyBucketsResult>`;
  scene.proxy.fault = ({ operation, url }) => {
    if (operation !== "ListBuckets") return "none";
    const isSecond = url.includes("continuation-token=next");
    const names = isSecond ? [object.bucketName] : [`${object.bucketName}-logs`];
    return { status: 200, body: page(names, isSecond ? "" : "<ContinuationToken>next</ContinuationToken>") };
  };
  expect((await object.reconcileUntilStable()).status).toMatchObject({
    adopted: true,
    createdAt: "2026-01-01T00:00:00.000Z",
  });
});

test("an owner whose name is longer than a tag may be is written as far as it fits", async () => {
  const object = await scene.stableObject({ bucketName: "long-owner" }, "n".repeat(253));
  expect(await scene.bucket("long-owner").tags()).toMatchObject({
    "drover.dev/owner-uid": object.uid,
    "drover.dev/owner": object.key.slice(0, 256),
  });
});

async function keysOfAnotherAccount(url: string) {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/sts/aws4_request",
    },
    body: new URLSearchParams({
      Action: "AssumeRole",
      Version: "2011-06-15",
      RoleArn: "arn:aws:iam::222222222222:role/elsewhere",
      RoleSessionName: "test",
    }),
  });
  const text = await answer.text();
  const field = (name: string) => new RegExp(`<${name}>(.+?)<`).exec(text)?.[1] ?? "";
  return {
    accessKeyId: field("AccessKeyId"),
    secretAccessKey: field("SecretAccessKey"),
    sessionToken: field("SessionToken"),
  };
}
