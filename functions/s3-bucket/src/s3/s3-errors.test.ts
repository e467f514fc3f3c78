import { inspect } from "node:util";
import { parseDuration, RetryAfterError, TerminalError } from "@drover/controller";
import { describe, expect, test } from "vitest";
import { expectError, readyOf, expectRefusal } from "../testing/bucket-scene.ts";
import { bucketSceneOfFile } from "../testing/bucket-scene.fixture.ts";

const scene = await bucketSceneOfFile();

describe("a refused creation", () => {
  test.each([
    [409, "BucketAlreadyExists", "BucketNameTaken"],
    [400, "InvalidBucketName", "InvalidBucketName"],
    [400, "IllegalLocationConstraintException", "RegionMismatch"],
    [501, "NotImplemented", "NotSupported"],
  ])("with %i %s stops until the object changes", async (status, code, reason) => {
    scene.proxy.faultOn("CreateBucket", { status, code });
    const error = await expectRefusal(scene.object().reconcileUntilStable(), reason);
    expect(error).toBeInstanceOf(TerminalError);
  });

  test.each([
    [409, "OperationAborted", "OperationAborted"],
    [503, "SlowDown", "SlowDown"],
    [503, "ServiceUnavailable", "SlowDown"],
  ])("with %i %s waits", async (status, code, reason) => {
    scene.proxy.faultOn("CreateBucket", { status, code });
    expect(await expectRefusal(scene.object().reconcileUntilStable())).toBeInstanceOf(RetryAfterError);
    await expectRefusal(scene.object().reconcileUntilStable(), reason);
  });

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
  test.each([
    ["7", 7_000],
    ["999999999", 3_600_000],
  ])("Retry-After: %s is kept, within an hour", async (after, expected) => {
    scene.proxy.faultOn("GetBucketTagging", {
      status: 503,
      code: "SlowDown",
      headers: { "retry-after": after },
    });
    const error = await expectRefusal(scene.object().reconcile());
    expect(error instanceof RetryAfterError && parseDuration(error.after)).toBe(expected);
  });

  test.each([0, 420_000, -420_000])(
    "Retry-After as a date is kept, by a clock %s ms from ours",
    async (skew) => {
      const [now, then] = [0, 60_000].map((ms) => new Date(Date.now() + skew + ms).toUTCString());
      const headers = { date: now ?? "", "retry-after": then ?? "" };
      scene.proxy.faultOn("GetBucketTagging", { status: 429, code: "TooManyRequests", headers });
      const error = await expectRefusal(scene.object().reconcile());
      const span = error instanceof RetryAfterError ? parseDuration(error.after) : NaN;
      expect(span).toBeGreaterThan(30_000);
      expect(span).toBeLessThanOrEqual(60_000);
    },
  );

  test.each(["-1", "soon", "0"])("Retry-After: %s is nonsense, and our own pause is kept", async (after) => {
    scene.proxy.faultOn("GetBucketTagging", {
      status: 503,
      code: "SlowDown",
      headers: { "retry-after": after },
    });
    const error = await expectRefusal(scene.object().reconcile());
    const span = error instanceof RetryAfterError ? parseDuration(error.after) : NaN;
    expect(span).toBeGreaterThanOrEqual(10_000);
    expect(span).toBeLessThanOrEqual(12_500);
  });
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
