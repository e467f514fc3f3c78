import { inspect } from "node:util";
import { parseDuration, RetryAfterError, TerminalError, ThrottledError } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { expectError, expectOwned, readyOf, expectRefusal } from "../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../testing/bucket-scene.fixture.ts";

const scene = await bucketSceneOfFile();

describe("a refused creation", () => {
  test.each([
    [409, "BucketAlreadyExists", "NameTaken"],
    [400, "InvalidBucketName", "InvalidName"],
    [400, "IllegalLocationConstraintException", "RegionMismatch"],
    [501, "NotImplemented", "NotSupported"],
  ])(
    "with %i %s is stalled, takes the intent back, and is tried again at every poll",
    async (status, code, reason) => {
      scene.proxy.faultOn("CreateBucket", { status, code });
      const object = scene.object();
      const result = await object.reconcileUntilStable();
      expect(readyOf(result)).toMatchObject({ status: "False", reason });
      expect(result.conditions).toContainEqual({ ...readyOf(result), type: "Stalled", status: "True" });
      expect(result.requeueAfter).toBe("5m");
      expect(object.status).toEqual({ observedGeneration: 1 });
      scene.proxy.forget();
      await object.reconcileUntilStable();
      await expectOwned(object);
    },
  );

  test.each([
    [503, "SlowDown"],
    [503, "ServiceUnavailable"],
    [429, "TooManyRequests"],
  ])("with %i %s makes all objects with the same credentials wait", async (status, code) => {
    const account = (await scene.stableObject()).account;
    scene.proxy.faultOn("CreateBucket", { status, code });
    const object = scene.object();
    const error = await expectError(object.reconcileUntilStable());
    expect(error).toBeInstanceOf(ThrottledError);
    expect(error).toMatchObject({ account, reason: "SlowDown" });
    expect(JSON.stringify(error)).not.toContain(scene.server.secretAccessKey);
  });

  test.each([[409, "OperationAborted", "OperationAborted"]])(
    "with %i %s waits",
    async (status, code, reason) => {
      scene.proxy.faultOn("CreateBucket", { status, code });
      const error = await expectRefusal(scene.object().reconcileUntilStable(), reason);
      expect(error).toBeInstanceOf(RetryAfterError);
    },
  );

  test.each([
    [403, "AccessDenied", "AccessDenied"],
    [400, "TooManyBuckets", "TooManyBuckets"],
    [403, "RequestTimeTooSkewed", "ClockSkewed"],
  ])(
    "with %i %s, after which nothing can have been made, waits and takes the intent back",
    async (status, code, reason) => {
      scene.proxy.faultOn("CreateBucket", { status, code });
      const object = scene.object();
      expect(readyOf(await object.reconcileUntilStable())).toMatchObject({ status: "False", reason });
      expect(object.status.creating).toBeUndefined();
    },
  );

  test("with 500 is retried with backoff, and the intent stands: it may have been made", async () => {
    scene.proxy.faultOn("CreateBucket", { status: 500, code: "InternalError" });
    const object = scene.object();
    const error = await expectError(object.reconcileUntilStable());
    expect(error).not.toBeInstanceOf(RetryAfterError);
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(object.status.creating).toBeDefined();
  });
});

describe("a server that asks to wait", () => {
  /** The pause after such an answer, ms. */
  const pauseAfter = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    scene.proxy.faultOn("GetBucketTagging", { status: 503, code: "SlowDown", headers });
    const error = await expectRefusal(scene.object().reconcile(), "SlowDown");
    return error instanceof ThrottledError ? parseDuration(error.after) : NaN;
  };

  test.each([
    ["is kept", "7", 7_000, 7_000],
    ["is kept, within an hour", "999999999", 3_600_000, 3_600_000],
    ["is nonsense, and our own pause is kept", "-1", 10_000, 12_500],
    ["is nonsense, and our own pause is kept", "soon", 10_000, 12_500],
    ["is nonsense, and our own pause is kept", "0", 10_000, 12_500],
  ])("%s: Retry-After: %s", async (_, after, least, most) => {
    const pause = await pauseAfter({ "retry-after": after });
    expect(pause).toBeGreaterThanOrEqual(least);
    expect(pause).toBeLessThanOrEqual(most);
  });

  test.each([0, 420_000, -420_000])(
    "Retry-After as a date is kept, by a clock %s ms from ours",
    async (skew) => {
      const at = (ms: number): string => new Date(Date.now() + skew + ms).toUTCString();
      const pause = await pauseAfter({ date: at(0), "retry-after": at(60_000) });
      expect(pause).toBeGreaterThan(30_000);
      expect(pause).toBeLessThanOrEqual(60_000);
    },
  );
});

test("credentials that S3 refuses are waited for, and nothing of them is in the error", async () => {
  scene.secrets.set("canary", {
    accessKeyId: "CANARYID",
    secretAccessKey: "canary-secret",
    sessionToken: "canary-token",
  });
  scene.proxy.faultOn("GetBucketTagging", {
    status: 403,
    body:
      "<Error><Code>SignatureDoesNotMatch</Code><Message>The signature does not match.</Message>" +
      "<AWSAccessKeyId>CANARYID</AWSAccessKeyId><StringToSign>canary-signed</StringToSign></Error>",
  });
  const error = await expectRefusal(
    scene.object({ credentialsSecret: { name: "canary" } }).reconcile(),
    "CredentialsRefused",
  );
  expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/canary/i);
  expect(inspect(scene.logged, { depth: 10 })).not.toMatch(/canary/i);
});

test("a server that cannot be reached is an error that is retried", async () => {
  scene.proxy.fault = () => "cut-before";
  const error = await expectError(scene.object().reconcile());
  expect(error).not.toBeInstanceOf(RetryAfterError);
  expect(error.message).toContain("No usable answer from the S3 server");
});

test("a bucket in another region is followed to where it is", async () => {
  const object = await scene.stableObject();
  scene.proxy.fault = ({ operation, headers }) => {
    const here = headers.authorization?.includes("/eu-west-3/") === true;
    return operation === "GetBucketTagging" && !here
      ? { status: 301, code: "PermanentRedirect", headers: { "x-amz-bucket-region": "eu-west-3" } }
      : "none";
  };
  await object.reconcile();
  expect(scene.proxy.calls.at(-1)?.headers.authorization).toContain("/eu-west-3/");
});
