import { ListMultipartUploadsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { RetryAfterError } from "@drover/controller";
import { describe, expect, test, vi } from "vitest";
import { expectError, expectRefusal } from "./testing/bucket-scene.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";
import { type S3Fault } from "./testing/s3-fault-proxy.ts";

const scene = await bucketSceneOfFile();

async function keysIn(bucket: string): Promise<readonly (string | undefined)[]> {
  const { Contents = [] } = await scene.s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key);
}

describe("onDelete: Retain, the default", () => {
  test("keeps the bucket, its content and its tags, and takes off only Drover's marks", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    await object.bucket.put();
    await object.finalize();
    expect(await object.bucket.tags()).toEqual({ team: "a" });
    scene.proxy.forget();
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("leaves a bucket that the next object can adopt", async () => {
    const object = await scene.stableObject();
    await object.finalize();
    const next = scene.object({ bucketName: object.bucketName, adopt: "IfUnowned" });
    expect((await next.reconcileUntilStable()).status?.adopted).toBe(true);
  });

  test("does not wait for a Secret that is gone", async () => {
    const object = await scene.stableObject();
    object.spec = { ...object.spec, credentialsSecret: { name: "gone" } };
    await object.finalize();
    expect(await object.bucket.state()).toBeDefined();
  });
});

describe("onDelete: Delete", () => {
  test("deletes an empty bucket, and again does nothing", async () => {
    const object = await scene.stableObject({ onDelete: "Delete" });
    await object.finalize();
    expect(await object.bucket.state()).toBeUndefined();
    await object.finalize();
  });

  test("leaves the name free for a new object", async () => {
    const object = await scene.stableObject({ onDelete: "Delete" });
    await object.finalize();
    const next = await scene.stableObject({ bucketName: object.bucketName });
    expect(await object.bucket.tags()).toMatchObject({ "drover.dev/owner-uid": next.uid });
  });

  test("waits for a Secret that is gone, and reports it", async () => {
    const object = await scene.stableObject({ onDelete: "Delete" });
    object.spec = { ...object.spec, credentialsSecret: { name: "gone" } };
    await expectRefusal(object.finalize(), "SecretMissing");
  });

  test("never empties a bucket unasked, does not touch it meanwhile, and names the option", async () => {
    const object = await scene.stableObject({ onDelete: "Delete" });
    await object.bucket.put();
    scene.proxy.forget();
    const error = await expectRefusal(object.finalize(), "BucketNotEmpty");
    expect(error).toBeInstanceOf(RetryAfterError);
    expect(error.message).toContain("emptyOnDelete");
    expect(scene.proxy.writes()).toEqual([]);

    await object.bucket.deleteObject();
    await object.finalize();
    expect(await object.bucket.state()).toBeUndefined();
  });

  test("an old version alone keeps the bucket", async () => {
    const object = await scene.stableObject({ onDelete: "Delete", versioning: "Enabled" });
    await object.bucket.put();
    await object.bucket.deleteObject();
    await expectRefusal(object.finalize(), "BucketNotEmpty");
  });

  test.each(["PutBucketTagging", "DeleteBucket"])(
    "an object that is written just before %s keeps the bucket, and is kept",
    async (moment) => {
      const object = await scene.stableObject({ onDelete: "Delete" });
      scene.proxy.before(moment, () => object.bucket.put());
      await expectRefusal(object.finalize(), "BucketNotEmpty");
      expect(await keysIn(object.bucketName)).toEqual(["a"]);
    },
  );

  test("with emptyOnDelete, everything goes: objects, versions, delete markers, unfinished uploads", async () => {
    const object = await scene.stableObject({
      onDelete: "Delete",
      emptyOnDelete: true,
      versioning: "Enabled",
    });
    const { bucket, bucketName: Bucket } = object;
    for (const key of ["a", "a", "b/c", "d e", "ü"]) await bucket.put(key);
    await bucket.deleteObject();
    await bucket.beginUpload("half");
    await object.finalize();
    expect(await bucket.state()).toBeUndefined();
    expect(scene.proxy.writes()).toContain("AbortMultipartUpload");
    await bucket.make();
    expect((await scene.s3.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  test("a bucket with more than a page of objects is emptied in pages", async () => {
    const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
    for (let i = 0; i < 12; i++) await object.bucket.put(`k${i}`);
    scene.proxy.forget();
    scene.proxy.pageSize = 10;
    await object.finalize();
    expect(scene.proxy.writes().filter((operation) => operation === "DeleteObjects")).toHaveLength(2);
    expect(await object.bucket.state()).toBeUndefined();
  });

  test("a bucket that does not get empty is left for the next run, which comes at once", async () => {
    const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
    // Another client writes again and again: each page is followed by another.
    let wrote = 0;
    scene.proxy.before("ListObjectVersions", () => object.bucket.put(`k${wrote++}`));
    expect(await expectRefusal(object.finalize())).toMatchObject({ reason: "Emptying", after: "1ms" });
    scene.proxy.forget();
    await object.finalize();
    expect(await object.bucket.state()).toBeUndefined();
  });
});

describe("a bucket that is not the object's", () => {
  test.each(["Retain", "Delete"] as const)("is left alone, with onDelete: %s", async (onDelete) => {
    const owner = await scene.stableObject({ tags: { team: "a" } });
    const before = await owner.bucket.state();
    scene.proxy.forget();
    const other = scene.object({ bucketName: owner.bucketName, onDelete, emptyOnDelete: true });
    await other.finalize();
    expect(scene.proxy.writes()).toEqual([]);
    expect(await owner.bucket.state()).toEqual(before);
  });

  test("nor any other object's, is left alone", async () => {
    const object = scene.object({ onDelete: "Delete", emptyOnDelete: true });
    await object.bucket.make();
    await object.bucket.put();
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });

  test.each(["PutBucketTagging", "ListObjectVersions", "ListMultipartUploads"])(
    "any more, because another owner took it over just before %s, is not deleted",
    async (moment) => {
      const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
      scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
        if (operation !== moment) return "none";
        await object.bucket.setTags({ "drover.dev/owner-uid": "another" });
        // What would write over the other's tags is the race that S3 cannot decide; it is kept out here.
        return operation === "PutBucketTagging" ? { status: 500, code: "InternalError" } : "none";
      };
      await object.finalize().catch(() => undefined);
      await object.finalize();
      expect(await object.bucket.tags()).toEqual({ "drover.dev/owner-uid": "another" });
      expect(scene.proxy.writes()).not.toContain("DeleteBucket");
    },
  );

  test("any more, because another owner took it over after it was marked, keeps its content", async () => {
    const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
    await object.bucket.put();
    scene.proxy.forget();
    scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
      const isMarked = scene.proxy.writes().includes("PutBucketTagging") && operation !== "PutBucketTagging";
      if (isMarked) await object.bucket.setTags({ "drover.dev/owner-uid": "another" });
      return "none";
    };
    await object.finalize();
    expect(scene.proxy.writes()).toEqual(["PutBucketTagging"]);
    expect(await keysIn(object.bucketName)).toEqual(["a"]);
  });

  test("because the name is another account's, does not hold the object", async () => {
    const object = scene.object({ onDelete: "Delete" });
    scene.proxy.faultOn("GetBucketTagging", { status: 403, code: "AccessDenied" });
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });
});

describe("what cannot be known", () => {
  test.each([
    ["may not list buckets", { status: 403, code: "AccessDenied" } as const],
    ["list the bucket", "none" as const],
  ])("is waited for: a bucket that may not be looked at by credentials that %s", async (_, list) => {
    const object = scene.object({ onDelete: "Delete" });
    await object.bucket.make();
    scene.proxy.fault = ({ operation }) =>
      operation === "ListBuckets"
        ? list
        : operation === "GetBucketTagging"
          ? { status: 403, code: "AccessDenied" }
          : "none";
    await expectRefusal(object.finalize(), "AccessDenied");
  });

  const denied = { refused: "AccessDenied", reason: "AccessDenied" };
  test.each([
    { what: "a bucket that was ours", runs: "reconcileUntilStable", ...denied },
    { what: "a bucket that was being made", runs: "reconcile", ...denied },
    { what: "any bucket", runs: undefined, refused: "ExpiredToken", reason: "CredentialsRefused" },
    { what: "any bucket", runs: undefined, refused: "SignatureDoesNotMatch", reason: "CredentialsRefused" },
  ] as const)(
    "is waited for: $what, while it may not be looked at ($refused)",
    async ({ runs, refused, reason }) => {
      const object = scene.object({ onDelete: "Delete" });
      if (runs !== undefined) await object[runs]();
      scene.proxy.faultOn("GetBucketTagging", { status: 403, code: refused });
      await expectRefusal(object.finalize(), reason);
    },
  );

  test("is tried again: the Secret, where it could not be read, also for a bucket that stays", async () => {
    const object = await scene.stableObject();
    vi.spyOn(scene.secrets, "get").mockImplementationOnce(() => {
      throw new Error("503");
    });
    await expect(object.finalize()).rejects.toThrow("503");
    await object.finalize();
    expect(await object.bucket.tags()).toEqual({});
  });
});

test.each(["Retain", "Delete"] as const)(
  "a bucket that another owner takes over between our read and our tagging keeps those tags, with onDelete: %s",
  async (onDelete) => {
    const object = await scene.stableObject({ onDelete });
    const others = { "drover.dev/owner-uid": "another" };
    let looks = 0;
    scene.proxy.fault = async ({ operation }): Promise<S3Fault> => {
      if (operation === "GetBucketTagging" && ++looks === 2) await object.bucket.setTags(others);
      return "none";
    };
    scene.proxy.calls.length = 0;
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
    expect(await object.bucket.tags()).toEqual(others);
  },
);

test("every bucket that is the object's goes, under whichever of its names it was made", async () => {
  const object = await scene.stableObject({ onDelete: "Delete" });
  const [first, second] = [object.bucketName, `${object.bucketName}-b`];
  await scene.bucket(second).make();
  await scene.bucket(second).setTags({ "drover.dev/owner-uid": object.uid });
  object.spec = { ...object.spec, bucketName: second };
  await object.finalize();
  expect(await Promise.all([first, second].map((name) => scene.bucket(name).state()))).toEqual([
    undefined,
    undefined,
  ]);
});

test("a bucket is found by the spec's name where nothing is remembered of it", async () => {
  const object = await scene.stableObject({ onDelete: "Delete" });
  object.status = {};
  await object.finalize();
  expect(await object.bucket.state()).toBeUndefined();
});

test("an object whose name never made a bucket's name can be deleted", async () => {
  await scene.object({ onDelete: "Delete" }, "n".repeat(60)).finalize();
  expect(scene.proxy.calls).toEqual([]);
});

test("a delete marker alone keeps the bucket", async () => {
  const object = await scene.stableObject({ onDelete: "Delete", versioning: "Enabled" });
  scene.proxy.fault = ({ operation, body }) =>
    operation === "ListObjectVersions"
      ? {
          asked: body,
          answered: ({ status }) => ({
            status,
            body: "<ListVersionsResult><DeleteMarker><Key>a</Key><VersionId>v</VersionId></DeleteMarker></ListVersionsResult>",
          }),
        }
      : "none";
  await expectRefusal(object.finalize(), "BucketNotEmpty");
});

test("a bucket that another client deletes at the same moment is gone, without an error", async () => {
  const object = await scene.stableObject({ onDelete: "Delete" });
  scene.proxy.before("DeleteBucket", () => object.bucket.delete());
  await object.finalize();
  expect(await object.bucket.state()).toBeUndefined();
});

describe("a bucket that is gone", () => {
  test("is no reason to wait", async () => {
    const object = await scene.stableObject({ onDelete: "Delete" });
    await object.bucket.delete();
    await object.finalize();
  });

  test("may still be in the making by a run that was cut off: wait for it", async () => {
    const object = scene.object({ onDelete: "Delete" });
    await object.reconcile();
    scene.proxy.faultOn("CreateBucket", "cut-before");
    await expectError(object.reconcile());
    await expectRefusal(object.finalize(), "CreationPending");
    // And here it comes.
    await object.bucket.make();
    await object.finalize();
    expect(await object.bucket.state()).toBeUndefined();
  });
});

test("a bucket is found under the name it was made with, though the spec names another now", async () => {
  const object = await scene.stableObject({ onDelete: "Delete" });
  object.spec = { ...object.spec, bucketName: `${object.bucketName}-new` };
  await object.finalize();
  expect(await object.bucket.state()).toBeUndefined();
});

test("a bucket that was being made is found, though the spec names another by now", async () => {
  const object = scene.object({ onDelete: "Delete" });
  const { bucketName } = object;
  await object.reconcile();
  scene.proxy.faultOn("CreateBucket", "cut-after");
  await expectError(object.reconcile());
  expect(await scene.bucket(bucketName).state()).toBeDefined();
  object.spec = { ...object.spec, bucketName: `${bucketName}-new` };
  await object.finalize();
  expect(await scene.bucket(bucketName).state()).toBeUndefined();
});

test("an aborted run deletes nothing more", async () => {
  const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
  await object.bucket.put();
  const stop = new AbortController();
  scene.proxy.fault = ({ operation }) => {
    if (operation !== "ListObjectVersions") return "none";
    stop.abort();
    return "hang";
  };
  expect((await expectError(object.finalize(stop.signal))).name).toBe("AbortError");
  expect(scene.proxy.writes()).toEqual(expect.not.arrayContaining(["DeleteObjects", "DeleteBucket"]));
});

test("versioning that was switched on by others does not keep us from emptying", async () => {
  const object = await scene.stableObject({ onDelete: "Delete", emptyOnDelete: true });
  await object.bucket.put();
  await object.bucket.setVersioning("Enabled");
  await object.bucket.put();
  await object.finalize();
  expect(await object.bucket.state()).toBeUndefined();
});
