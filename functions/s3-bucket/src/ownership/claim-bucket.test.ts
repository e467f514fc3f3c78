import { S3Client } from "@aws-sdk/client-s3";
import { RetryAfterError } from "@drover/controller";
import { describe, expect, test } from "vitest";

import {
  bucketIn,
  deleteBehindBack,
  expectError,
  makeBucket,
  putObject,
  readyOf,
  expectRefusal,
  setTags,
  tagsOf,
} from "../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../testing/bucket-scene.fixture.ts";
import { type S3Fault } from "../testing/s3-fault-proxy.ts";

const scene = await bucketSceneOfFile();

describe("a bucket that was there before", () => {
  test("is left alone, whatever its settings, and the condition names the option to adopt it", async () => {
    const object = scene.object({ versioning: "Enabled", tags: { team: "a" } });
    await makeBucket(scene.s3, object.bucketName);
    const error = await expectRefusal(object.reconcileUntilStable());
    expect(error).toBeInstanceOf(RetryAfterError);
    expect(error.reason).toBe("BucketNotOurs");
    expect(error.message).toContain("IfUnowned");
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("is adopted with its content and its tags where the spec allows it", async () => {
    const object = scene.object({ adopt: "IfUnowned", tags: { team: "a" } });
    await makeBucket(scene.s3, object.bucketName);
    await setTags(scene.s3, object.bucketName, { cost: "42" });
    await putObject(scene.s3, object.bucketName);
    const result = await object.reconcileUntilStable();
    expect(result.status?.adopted).toBe(true);
    expect(await tagsOf(scene.s3, object.bucketName)).toMatchObject({
      cost: "42",
      team: "a",
      "drover.dev/owner-uid": object.uid,
    });
    expect((await object.reconcile()).status?.adopted).toBe(true);
  });

  test("is known to be adopted by the run after one that died before its status write", async () => {
    const object = scene.object({ adopt: "IfUnowned" });
    await makeBucket(scene.s3, object.bucketName);
    await object.reconcile();
    object.status = {};
    expect((await object.reconcile()).status?.adopted).toBe(true);
    expect((await object.reconcile()).status?.adopted).toBe(true);
  });

  test("and is another object's is never adopted", async () => {
    const first = await scene.stableObject({ tags: { team: "a" } });
    const before = await bucketIn(scene.s3, first.bucketName);
    scene.proxy.forget();
    const second = scene.object({ bucketName: first.bucketName, adopt: "IfUnowned", tags: { team: "b" } });
    const error = await expectRefusal(second.reconcileUntilStable());
    expect(error.reason).toBe("BucketNotOurs");
    expect(error.message).toContain(first.key);
    expect(scene.proxy.writes()).toEqual([]);
    expect(await bucketIn(scene.s3, first.bucketName)).toEqual(before);
  });

  test("and is another account's is never adopted, though it can be read", async () => {
    const object = scene.object({ adopt: "IfUnowned", credentialsSecret: { name: "elsewhere" } });
    const credentials = await keysOfAnotherAccount(scene.server.url);
    scene.secrets.set("elsewhere", credentials);
    await makeBucket(scene.s3, object.bucketName);
    // The list of an account's buckets is asked for by what names begin with.
    const ours = new S3Client({
      endpoint: scene.server.url,
      region: "us-east-1",
      forcePathStyle: true,
      credentials,
    });
    await makeBucket(ours, `${object.bucketName}-logs`);
    const error = await expectRefusal(object.reconcileUntilStable());
    expect(error.reason).toBe("BucketNotOurs");
    expect(error.message).toContain("another account");
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("and was ours, but is another bucket of that name now, is left alone", async () => {
    const object = await scene.stableObject();
    do {
      await deleteBehindBack(scene.s3, object.bucketName);
      await makeBucket(scene.s3, object.bucketName);
      // Times of creation are whole seconds.
    } while (
      (await bucketIn(scene.s3, object.bucketName))?.createdAt?.toISOString() === object.status.createdAt
    );
    scene.proxy.forget();
    expect((await expectRefusal(object.reconcileUntilStable())).reason).toBe("BucketNotOurs");
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
        await makeBucket(scene.s3, object.bucketName);
        await putObject(scene.s3, object.bucketName);
      });
      const error = await expectError(object.reconcile());
      expect(error).toMatchObject({ reason: "BucketNotOurs" });
      expect(await tagsOf(scene.s3, object.bucketName)).toEqual({});
    },
  );

  test("we are refused; a bucket that is then made by hand is not adopted", async () => {
    const object = scene.object();
    scene.proxy.faultOn("CreateBucket", { status: 403, code: "AccessDenied" });
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)).toMatchObject({ status: "False", reason: "AccessDenied" });
    expect(object.status.creating).toBeUndefined();

    await makeBucket(scene.s3, object.bucketName);
    expect((await expectRefusal(object.reconcileUntilStable())).reason).toBe("BucketNotOurs");
    expect(await tagsOf(scene.s3, object.bucketName)).toEqual({});
  });
});

test("of two objects that claim one bucket at once, one gets it and the other an error", async () => {
  const bucketName = scene.object().bucketName;
  const objects = [scene.object({ bucketName }), scene.object({ bucketName })];
  await Promise.allSettled(objects.map((object) => object.reconcileUntilStable()));
  const again = await Promise.allSettled(objects.map((object) => object.reconcileUntilStable()));
  const owner = (await tagsOf(scene.s3, bucketName))["drover.dev/owner-uid"];
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
  if (isThere) await makeBucket(scene.s3, object.bucketName);
  let tagged = false;
  scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
    if (tagged) await setTags(scene.s3, object.bucketName, { "drover.dev/owner-uid": "another" });
    tagged = operation === "PutBucketTagging";
    return "none";
  };
  expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({ reason: "BucketNotOurs" });
  expect((await bucketIn(scene.s3, object.bucketName))?.versioning).toBeUndefined();
});

test("a bucket whose owner was written and cannot be read yet is waited for, and its settings are not touched", async () => {
  const object = scene.object({ adopt: "IfUnowned", versioning: "Enabled" });
  await makeBucket(scene.s3, object.bucketName);
  scene.proxy.faultOn("GetBucketTagging", { status: 404, code: "NoSuchTagSet" });
  expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
    reason: "OwnerNotVisible",
    after: "1s",
  });
  expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
});

test("a bucket that another object tags between our look and our tagging keeps those tags", async () => {
  const object = scene.object({ adopt: "IfUnowned" });
  await makeBucket(scene.s3, object.bucketName);
  const others = { "drover.dev/owner-uid": "another", "drover.dev/owner": "web/other" };
  let looks = 0;
  scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
    if (operation === "GetBucketTagging" && ++looks === 2) await setTags(scene.s3, object.bucketName, others);
    return "none";
  };
  expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({ reason: "BucketNotOurs" });
  expect(await tagsOf(scene.s3, object.bucketName)).toEqual(others);
});

describe("tags of a bucket without an owner", () => {
  test.each([
    ["of another object, beside our own mark of removal", { "drover.dev/owner-uid": "another" }, true],
    ["that mark it as being deleted by another object", { "drover.dev/removed-by": "another" }, false],
  ])("%s: it is never taken", async (_, tags, isRemoved) => {
    const object = scene.object({ adopt: "IfUnowned" });
    await makeBucket(scene.s3, object.bucketName);
    const removal = isRemoved ? { "drover.dev/removed-by": object.uid } : {};
    await setTags(scene.s3, object.bucketName, { ...tags, ...removal });
    expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
      reason: "BucketNotOurs",
      after: "5m",
    });
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("of another client that made it while we were about to, empty as it is", async () => {
    const object = scene.object();
    await object.reconcile();
    await makeBucket(scene.s3, object.bucketName);
    await setTags(scene.s3, object.bucketName, { team: "theirs" });
    expect(await expectRefusal(object.reconcile())).toMatchObject({ reason: "BucketNotOurs" });
    expect(scene.proxy.writes()).toEqual([]);
  });
});

describe("where the credentials may not list buckets", () => {
  const unlisted = () => {
    scene.proxy.faultOn("ListBuckets", { status: 403, code: "AccessDenied" });
  };
  test("a bucket is adopted only when the spec names its account", async () => {
    const object = scene.object({ adopt: "IfUnowned", pollInterval: "90s" });
    await makeBucket(scene.s3, object.bucketName);
    unlisted();
    expect(await expectRefusal(object.reconcileUntilStable())).toMatchObject({
      reason: "BucketNotOurs",
      after: "90s",
    });
    object.spec = { ...object.spec, accountId: "123456789012" };
    expect((await object.reconcileUntilStable()).status).toMatchObject({ adopted: true });
  });

  test("the status has no time of creation, and the next run asks for it again", async () => {
    const object = scene.object({ adopt: "IfUnowned", accountId: "123456789012" });
    await makeBucket(scene.s3, object.bucketName);
    unlisted();
    expect((await object.reconcileUntilStable()).status).not.toHaveProperty("createdAt");
    scene.proxy.forget();
    const made = (await bucketIn(scene.s3, object.bucketName))?.createdAt?.toISOString();
    expect((await object.reconcile()).status?.createdAt).toBe(made);
  });
});

test("a bucket is found in the list of an account's buckets on whichever page it is", async () => {
  const object = scene.object({ adopt: "IfUnowned" });
  await makeBucket(scene.s3, object.bucketName);
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
  const object = await scene.stableObject({ bucketName: "long-owner" }, { name: "n".repeat(253) });
  expect(await tagsOf(scene.s3, "long-owner")).toMatchObject({
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
