import { parseDuration, RetryAfterError, TerminalError } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { Bucket } from "./bucket.ts";
import { expectOwned, expectError, openBucketScene, readyOf, expectRefusal } from "./testing/bucket-scene.ts";
import { bucketSceneOfFile } from "./testing/bucket-scene.fixture.ts";
import { type S3Fault } from "./testing/s3-fault-proxy.ts";

const scene = await bucketSceneOfFile();

describe("a new object", () => {
  test("gets a bucket with its settings, its tags and its owner, and its status has the address", async () => {
    const object = scene.object({ versioning: "Enabled", tags: { team: "a" } });
    const result = await object.reconcileUntilStable();

    const bucket = await object.bucket.state();
    expect(bucket?.versioning).toBe("Enabled");
    expect(bucket?.tags).toMatchObject({
      team: "a",
      "drover.dev/owner-uid": object.uid,
      "drover.dev/owner": object.key,
    });
    expect(result.status).toEqual({
      bucketName: object.bucketName,
      arn: `arn:aws:s3:::${object.bucketName}`,
      region: "us-east-1",
      adopted: false,
      createdAt: bucket?.createdAt?.toISOString(),
      written: { versioning: expect.any(String) as string },
    });
    expect(result.requeueAfter).toBe("5m");
    expect(readyOf(result)).toBeUndefined();
    expect(result.conditions).toMatchObject([{ type: "Versioning", status: "True" }]);
  });

  test("writes its intent into the status before it makes a bucket", async () => {
    const object = scene.object();
    const result = await object.reconcile();
    expect(readyOf(result)).toMatchObject({ status: "Unknown", reason: "Creating" });
    expect(scene.proxy.writes()).toEqual([]);
    expect(object.status.creating?.name).toBe(object.bucketName);
  });

  test("sends the owner along with the creation, for servers that take tags there", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    const [creation] = scene.proxy.calls.filter(({ operation }) => operation === "CreateBucket");
    expect(creation?.body).toContain(
      `<Tag><Key>drover.dev/owner-uid</Key><Value>${object.uid}</Value></Tag>`,
    );
    expect(creation?.body).toContain("<Tag><Key>team</Key><Value>a</Value></Tag>");
  });

  test("whose server takes tags at creation needs no second look at whose bucket it is", async () => {
    const object = scene.object();
    scene.proxy.fault = async ({ operation, number }): Promise<S3Fault> => {
      const previous = scene.proxy.calls[number - 1];
      // The server of the tests ignores those tags: they are put there for it.
      if (previous?.operation === "CreateBucket" && operation === "GetBucketTagging") {
        const tags = [...previous.body.matchAll(/<Key>(.+?)<\/Key><Value>(.+?)<\/Value>/g)];
        await object.bucket.setTags(Object.fromEntries(tags.map(([, key = "", value = ""]) => [key, value])));
      }
      return "none";
    };
    await object.reconcileUntilStable();
    expect(scene.proxy.writes()).toEqual(["CreateBucket"]);
  });

  test("only reads once everything is as asked for", async () => {
    const object = await scene.stableObject({ versioning: "Enabled", tags: { team: "a" } });
    scene.proxy.forget();
    const { status, result } = { status: object.status, result: await object.reconcile() };
    expect(scene.proxy.writes()).toEqual([]);
    expect(scene.proxy.calls.map(({ operation }) => operation)).toEqual([
      "GetBucketTagging",
      "HeadBucket",
      "GetBucketVersioning",
    ]);
    expect({ ...result.status, observedGeneration: 1 }).toEqual(status);
  });

  test("leaves settings alone that its spec leaves out", async () => {
    const object = await scene.stableObject();
    await object.bucket.setVersioning("Enabled");
    const result = await object.reconcile();
    expect(result.conditions).toEqual([]);
    expect((await object.bucket.state())?.versioning).toBe("Enabled");
  });

  test("whose name makes no valid bucket name gets an error with the field to set", async () => {
    const object = scene.object({}, "n".repeat(60));
    const error = await expectRefusal(object.reconcile(), "InvalidName");
    expect(error).toBeInstanceOf(TerminalError);
    expect(scene.proxy.calls).toEqual([]);
  });
});

describe("drift", () => {
  test("in versioning is put right", async () => {
    const object = await scene.stableObject({ versioning: "Enabled" });
    await object.bucket.setVersioning("Suspended");
    await object.reconcileUntilStable();
    expect((await object.bucket.state())?.versioning).toBe("Enabled");
  });

  test("in tags is put right, and the tags of others stay", async () => {
    const object = await scene.stableObject({ tags: { team: "a", tier: "1" } });
    const tags = await object.bucket.tags();
    await object.bucket.setTags({ ...tags, team: "wrong", cost: "42" });
    await object.reconcileUntilStable();
    expect(await object.bucket.tags()).toEqual({ ...tags, cost: "42" });
  });

  test("a tag taken out of the spec comes off the bucket; the same tag, set by others, does not", async () => {
    const object = await scene.stableObject({ tags: { team: "a", tier: "1" } });
    await object.bucket.setTags({
      ...(await object.bucket.tags()),
      cost: "42",
    });
    object.spec = { ...object.spec, tags: { team: "a" } };
    await object.reconcileUntilStable();
    const tags = await object.bucket.tags();
    expect(tags).toMatchObject({ team: "a", cost: "42" });
    expect(tags).not.toHaveProperty("tier");
  });

  test("a bucket that was deleted behind our back is made again", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    await object.bucket.delete();
    await object.reconcileUntilStable();
    await expectOwned(object, { team: "a" });
  });

  test("a bucket whose tags were replaced, the owner's too, is recognised and tagged again", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    await object.bucket.put();
    await object.bucket.setTags({ cost: "42" });
    await object.reconcileUntilStable();
    await expectOwned(object, { team: "a", cost: "42" });
  });

  test("converges while another client rewrites the tags all the time, and keeps that client's tags", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    let rounds = 0;
    const rewriting = (async () => {
      while (rounds < 50) await object.bucket.setTags({ cost: String(++rounds) });
    })();
    // A run may lose against the other; then it returns an error and waits.
    while (rounds < 50) {
      await object.reconcile().catch((error: unknown) => {
        expect(error).toBeInstanceOf(RetryAfterError);
      });
    }
    await rewriting;
    await object.bucket.setTags({ cost: "42" });
    await object.reconcile();
    await expectOwned(object, { team: "a", cost: "42" });
  });

  test("tags that are written while we are about to tag are kept", async () => {
    const object = await scene.stableObject({ tags: { team: "a" } });
    object.spec = { ...object.spec, tags: { team: "b" } };
    scene.proxy.before("HeadBucket", async () => {
      const tags = await object.bucket.tags();
      await object.bucket.setTags({ ...tags, cost: "42" });
    });
    await object.reconcileUntilStable();
    expect(await object.bucket.tags()).toMatchObject({ team: "b", cost: "42" });
  });
});

describe("a bucket that is about to be made", () => {
  test("is announced anew where its run came too late, and for longer", async () => {
    const object = scene.object();
    await object.reconcile();
    const { name = "", since = "" } = object.status.creating ?? {};
    const minutesAgo = (minutes: number): string =>
      new Date(Date.parse(since) - minutes * 60_000).toISOString();
    object.status = { creating: { name, since: minutesAgo(10), until: minutesAgo(9) } };
    await object.reconcile();
    expect(scene.proxy.writes()).toEqual([]);
    const { creating } = object.status;
    const open = Date.parse(creating?.until ?? "") - Date.parse(creating?.since ?? "");
    expect(open).toBeGreaterThanOrEqual(20 * 60_000);
    await object.reconcileUntilStable();
    expect(await object.bucket.state()).toBeDefined();
  });

  test("is announced by the server's clock, as its time of creation will be", async () => {
    const object = scene.object();
    const date = new Date(Date.UTC(2030, 0, 1)).toUTCString();
    scene.proxy.fault = () => ({ status: 404, code: "NoSuchBucket", headers: { date } });
    await object.reconcile();
    expect(object.status.creating).toMatchObject({ since: "2030-01-01T00:00:00.000Z" });
  });

  test("and was made, and may not be read, is reported", async () => {
    const object = scene.object();
    await object.reconcile();
    let isMade = false;
    scene.proxy.fault = ({ operation }) => {
      isMade ||= operation === "CreateBucket";
      return isMade && operation === "GetBucketTagging" ? { status: 403, code: "AccessDenied" } : "none";
    };
    await expectRefusal(object.reconcile(), "AccessDenied");
  });
});

test("an object is looked at again as often as it asks for", async () => {
  const object = scene.object({ pollInterval: "30s" });
  expect((await object.reconcileUntilStable()).requeueAfter).toBe("30s");
});

test.each([
  ["us-gov-west-1", "arn:aws-us-gov:s3:::"],
  ["cn-north-1", "arn:aws-cn:s3:::"],
])("a bucket in %s has an ARN of that partition", async (region, arn) => {
  const object = scene.object({ region });
  expect((await object.reconcileUntilStable()).status).toMatchObject({
    region,
    arn: `${arn}${object.bucketName}`,
  });
});

test("a bucket is looked for where it was made, though the function's own region is another now", async () => {
  const object = await scene.stableObject();
  object.status = { ...object.status, region: "eu-west-3" };
  scene.proxy.forget();
  await object.reconcile();
  expect(scene.proxy.calls[0]?.headers.authorization).toContain("/eu-west-3/");
});

describe("a bucket", () => {
  test("whose tags may be read, and which may not be looked at, is where it answered", async () => {
    const object = await scene.stableObject();
    scene.proxy.faultOn("HeadBucket", { status: 403, body: "" });
    expect((await object.reconcile()).status).toMatchObject({ region: "us-east-1" });
  });

  test.each(["NoSuchTagSet", "NoSuchTagSetError"])("without tags (%s) is there", async (code) => {
    const object = scene.object();
    await object.bucket.make();
    scene.proxy.faultOn("GetBucketTagging", { status: 404, code });
    await expectRefusal(object.reconcileUntilStable(), "NotOwned");
  });

  test("to which each region answers that it is in another one is not asked for without end", async () => {
    const object = scene.object();
    scene.proxy.fault = ({ number }) => ({
      status: 301,
      code: "PermanentRedirect",
      headers: { "x-amz-bucket-region": `eu-west-${number + 1}` },
    });
    await expectRefusal(object.reconcile(), "RegionMismatch");
    expect(scene.proxy.calls).toHaveLength(2);
  });

  test("that is refused by the region in which it was asked for is not asked for again", async () => {
    const object = scene.object();
    scene.proxy.fault = () => ({
      status: 403,
      code: "AccessDenied",
      headers: { "x-amz-bucket-region": "us-east-1" },
    });
    await expectRefusal(object.reconcile());
    expect(scene.proxy.calls.filter(({ operation }) => operation === "GetBucketTagging")).toHaveLength(1);
  });

  test("with as many tags as S3 takes is tagged; with one more it is left as it is", async () => {
    const [object, full] = [scene.object({ adopt: "IfUnowned" }), scene.object({ adopt: "IfUnowned" })];
    const some = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
    for (const [one, count] of [
      [object, 48],
      [full, 49],
    ] as const) {
      await one.bucket.make();
      await one.bucket.setTags(some(count));
    }
    await object.reconcileUntilStable();
    expect(Object.keys(await object.bucket.tags())).toHaveLength(50);
    scene.proxy.forget();
    full.spec = { ...full.spec, pollInterval: "90s" };
    expect(await expectRefusal(full.reconcileUntilStable())).toMatchObject({
      reason: "TooManyTags",
      after: "90s",
    });
    expect(scene.proxy.writes()).toEqual([]);
  });
});

test.each([
  [403, "AccessDenied", "AccessDenied", "Allow it"],
  [400, "MalformedXML", "InvalidSetting", "Correct spec.versioning"],
])(
  "a setting that is refused (%i %s) gets a condition, and the others are written",
  async (status, code, reason, help) => {
    const object = scene.object({
      versioning: "Enabled",
      lifecycle: { rules: [{ id: "a", expiration: { days: 1 } }] },
    });
    scene.proxy.faultOn("PutBucketVersioning", { status, code });
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)).toMatchObject({ status: "False", reason });
    expect(readyOf(result)?.message).toContain(help);
    expect(result.conditions).toContainEqual(
      expect.objectContaining({ type: "Versioning", status: "False", reason }),
    );
    expect(result.conditions).toContainEqual(expect.objectContaining({ type: "Lifecycle", status: "True" }));
    scene.proxy.forget();
    expect(readyOf(await object.reconcileUntilStable())).toBeUndefined();
  },
);

test("a server that accepts a setting and keeps another value is reported, and written to once at each poll", async () => {
  const object = await scene.stableObject({ versioning: "Enabled" });
  scene.proxy.faultOn("GetBucketVersioning", {
    status: 200,
    body: "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>",
  });
  object.spec = { ...object.spec, versioning: "Suspended" };
  await object.reconcileUntilStable();
  object.spec = { ...object.spec, versioning: "Enabled" };
  object.generation++;
  const first = await object.reconcileUntilStable();
  expect(readyOf(first)).toMatchObject({ status: "False", reason: "NotKept" });
  // A server may take some seconds to return a new value.
  expect(first.requeueAfter).toBe("5s");
  for (let poll = 0; poll < 3; poll++) {
    scene.proxy.calls.length = 0;
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)?.reason).toBe("NotKept");
    expect(result.requeueAfter).toBe("5m");
    expect(scene.proxy.writes()).toEqual(["PutBucketVersioning"]);
  }
});

describe("manage: ObserveOnly", () => {
  test("reports the state and the differences of any bucket, and writes nothing", async () => {
    const object = scene.object({ manage: "ObserveOnly", versioning: "Enabled", tags: { team: "a" } });
    await object.bucket.make();
    const different = await object.reconcileUntilStable();
    expect(readyOf(different)).toMatchObject({ status: "False", reason: "Drifted" });
    expect(different.status).toMatchObject({ bucketName: object.bucketName, region: "us-east-1" });
    await object.bucket.setVersioning("Enabled");
    const result = await object.reconcileUntilStable();
    expect(readyOf(result)).toBeUndefined();
    expect(result.requeueAfter).toBe("5m");
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("does not create a bucket", async () => {
    const object = scene.object({ manage: "ObserveOnly" });
    expect(readyOf(await object.reconcileUntilStable())).toMatchObject({ status: "False", reason: "Absent" });
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("stops changes of a bucket that was managed, keeps what was recorded, and goes back to it", async () => {
    const object = await scene.stableObject({ versioning: "Enabled", onDelete: "Delete" });
    const { status } = object;
    object.spec = { ...object.spec, manage: "ObserveOnly" };
    await object.bucket.setVersioning("Suspended");
    scene.proxy.forget();
    expect(readyOf(await object.reconcileUntilStable())?.reason).toBe("Drifted");
    expect(object.status).toEqual(status);
    await object.finalize();
    expect(scene.proxy.writes()).toEqual([]);
    object.spec = { ...object.spec, manage: "Full" };
    await object.reconcileUntilStable();
    expect((await object.bucket.state())?.versioning).toBe("Enabled");
  });
});

test("a name that another account has is free for a new one, and does not keep the object", async () => {
  const object = scene.object({ onDelete: "Delete" });
  scene.proxy.faultOn("CreateBucket", { status: 409, code: "BucketAlreadyExists" });
  expect(readyOf(await object.reconcileUntilStable())?.reason).toBe("NameTaken");
  scene.proxy.forget();
  object.spec = { ...object.spec, bucketName: `${object.bucketName}-new` };
  await object.reconcileUntilStable();
  expect(await scene.bucket(`${object.bucketName}-new`).state()).toBeDefined();
  await object.finalize();
  expect(await scene.bucket(`${object.bucketName}-new`).state()).toBeUndefined();
});

test("a request is sent once in a run: it is the queue that tries again", async () => {
  const object = scene.object();
  scene.proxy.fault = () => ({ status: 500, code: "InternalError" });
  await expectError(object.reconcile());
  scene.proxy.fault = () => ({ status: 503, code: "SlowDown" });
  await expectError(object.reconcile());
  expect(scene.proxy.calls).toHaveLength(2);
});

test("a server that never answers is an error after the time that a request may take", async () => {
  const slow = await openBucketScene("50ms");
  slow.proxy.fault = () => "hang";
  const error = await expectError(slow.object().reconcile());
  await slow.close();
  expect(error.message).toContain("No usable answer");
});

describe("what cannot be changed", () => {
  test("a new name is refused, and the bucket stays", async () => {
    const object = await scene.stableObject();
    object.spec = { ...object.spec, bucketName: `${object.bucketName}-new` };
    await expectRefusal(object.reconcileUntilStable(), "NameImmutable");
    expect(await scene.bucket(`${object.bucketName}-new`).state()).toBeUndefined();
  });

  test("a new name is refused for a bucket that a run made and died over", async () => {
    const object = scene.object();
    await object.reconcile();
    scene.proxy.faultOn("CreateBucket", "cut-after");
    await expectError(object.reconcile());
    scene.proxy.forget();
    object.spec = { ...object.spec, bucketName: `${object.bucketName}-new` };
    await expectRefusal(object.reconcileUntilStable(), "NameImmutable");
  });

  test("a new name waits while the bucket of the old one may yet be made, and is refused when it is", async () => {
    const object = scene.object();
    await object.reconcile();
    scene.proxy.faultOn("CreateBucket", "cut-before");
    await expectError(object.reconcile());
    scene.proxy.forget();
    const former = object.bucketName;
    object.spec = { ...object.spec, bucketName: `${former}-new` };
    const wait = await expectRefusal(object.reconcile());
    expect(wait).toMatchObject({ name: "RetryAfterError", reason: "CreationPending" });
    const { since = "", until = "" } = object.status.creating ?? {};
    const open = Date.parse(until) - Date.parse(since);
    expect(parseDuration((wait as RetryAfterError).after)).toBeLessThanOrEqual(open);
    expect(await scene.bucket(`${former}-new`).state()).toBeUndefined();
    await scene.bucket(former).make();
    await expectRefusal(object.reconcile(), "NameImmutable");
  });

  test("a new name is accepted when the bucket of the old one was a foreign one", async () => {
    const object = scene.object();
    await object.bucket.make();
    await expectRefusal(object.reconcileUntilStable());
    object.spec = { ...object.spec, bucketName: `${object.bucketName}-new` };
    await object.reconcileUntilStable();
    expect(await scene.bucket(`${object.bucketName}-new`).state()).toBeDefined();
  });

  test("a new region is refused, saying where the bucket is", async () => {
    const object = await scene.stableObject({ region: "eu-west-1" });
    expect(object.status.region).toBe("eu-west-1");
    object.spec = { ...object.spec, region: "eu-west-2", tags: { team: "a" }, versioning: "Enabled" };
    scene.proxy.forget();
    const error = await expectRefusal(object.reconcileUntilStable(), "RegionMismatch");
    expect(error.message).toContain("eu-west-1");
    expect(scene.proxy.writes()).toEqual([]);
  });
});

describe("a server that lacks something", () => {
  test.each(["GetBucketVersioning", "PutBucketVersioning"])(
    "has no %s: a condition reports it, the rest is done, and it is checked again after pollInterval",
    async (missing) => {
      const object = scene.object({ versioning: "Enabled", tags: { team: "a" } });
      scene.proxy.faultOn(missing, { status: 501, code: "NotImplemented" });
      const result = await object.reconcileUntilStable();
      expect(result.requeueAfter).toBe("5m");
      expect(result.conditions).toMatchObject([
        { type: "Ready", status: "False", reason: "NotSupported" },
        { type: "Versioning", status: "False", reason: "NotSupported" },
      ]);
      expect(await object.bucket.tags()).toMatchObject({ team: "a" });
    },
  );

  test("keeps no tags: no bucket is made, because its owner could not be recorded", async () => {
    const object = scene.object();
    scene.proxy.faultOn("GetBucketTagging", { status: 405, code: "MethodNotAllowed" });
    await expectRefusal(object.reconcileUntilStable(), "TaggingNotSupported");
    expect(scene.proxy.writes()).toEqual([]);
  });

  test("is no S3 server at all: nothing is made", async () => {
    const object = scene.object();
    for (const status of [200, 404, 500]) {
      scene.proxy.fault = () => ({ status, body: "<html><body>Welcome</body></html>" });
      await expectError(object.reconcileUntilStable());
    }
    expect(scene.proxy.writes()).toEqual([]);
    expect(object.status).toEqual({});
  });
});

test("every request names the account that must own the bucket", async () => {
  await scene.stableObject({ accountId: "123456789012", versioning: "Enabled" });
  const silent = scene.proxy.calls
    .filter(({ headers }) => headers["x-amz-expected-bucket-owner"] !== "123456789012")
    .map(({ operation }) => operation);
  // These two have no such header in S3: one makes, one names no bucket.
  expect(new Set(silent)).toEqual(new Set(["CreateBucket", "ListBuckets"]));
});

test("an aborted run stops at once, and nothing it was about to do is done", async () => {
  const object = scene.object();
  await object.reconcile();
  const stop = new AbortController();
  scene.proxy.fault = ({ operation }) => {
    if (operation !== "CreateBucket") return "none";
    stop.abort();
    return "hang";
  };
  expect((await expectError(object.reconcile(stop.signal))).name).toBe("AbortError");
  expect(await object.bucket.state()).toBeUndefined();
});

describe("credentials", () => {
  test("a Secret that is not there is waited for, and named", async () => {
    const object = scene.object({ credentialsSecret: { name: "none" } });
    const error = await expectRefusal(object.reconcile());
    expect(error).toMatchObject({ reason: "SecretMissing", after: "30s" });
    expect(error.message).toContain("Secret none");
  });

  test("a Secret that lacks a key is waited for, naming the key and no value", async () => {
    scene.secrets.set("half", { accessKeyId: "canary-id", secretAccessKey: " \n" });
    const error = await expectRefusal(scene.object({ credentialsSecret: { name: "half" } }).reconcile());
    expect(error).toMatchObject({ reason: "SecretMalformed", after: "30s" });
    expect(error.message).toContain("secretAccessKey");
    expect(error.message).not.toContain("canary");
  });
});

test("credentials are sent as the Secret has them, without blanks around them, and with their token", async () => {
  const { accessKeyId = "", secretAccessKey = "" } = scene.secrets.get("keys") ?? {};
  scene.secrets.set("temporary", {
    accessKeyId: ` ${accessKeyId}\n`,
    secretAccessKey: `${secretAccessKey}\n`,
    sessionToken: "t0ken\n",
  });
  await scene.object({ credentialsSecret: { name: "temporary" } }).reconcileUntilStable();
  for (const { headers } of scene.proxy.calls) {
    expect(headers["x-amz-security-token"]).toBe("t0ken");
    expect(headers.authorization).toContain(`Credential=${accessKeyId}/`);
  }
});

test("valid and invalid specs", () => {
  const parse = (spec: object) => Bucket.spec.safeParse(spec).success;
  expect(Bucket.spec.parse({})).toEqual({
    tags: {},
    manage: "Full",
    adopt: "Never",
    onDelete: "Retain",
    emptyOnDelete: false,
    pollInterval: "5m",
  });
  expect(parse({ bucketName: "192.168.1.1" })).toBe(false);
  expect(parse({ pollInterval: "5" })).toBe(false);
  expect(parse({ pollInterval: "10ms" })).toBe(false);
  expect(parse({ tags: { "aws:x": "y" } })).toBe(false);
  expect(parse({ accountId: "1234" })).toBe(false);
  const tags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  expect(parse({ tags: tags(47) })).toBe(true);
  expect(parse({ tags: tags(48) })).toBe(false);
});
