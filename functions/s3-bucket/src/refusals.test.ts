import { AwsRefusal } from "@drover/aws";
import { parseDuration, RetryAfterError, TerminalError } from "@drover/controller";
import { expect, test } from "vitest";
import { responseOrRefusal, errorAfter } from "./s3/s3-errors.ts";

const refusal = (name: string, status?: number) =>
  new AwsRefusal({ name, message: "m", $metadata: status === undefined ? {} : { httpStatusCode: status } });
const next = (...of: Parameters<typeof refusal>) => errorAfter(refusal(...of), "look");

test.each([
  ["BucketAlreadyExists", 409, "NameTaken"],
  ["InvalidBucketName", 400, "InvalidName"],
  ["InvalidTag", 400, "InvalidTag"],
  ["PermanentRedirect", 301, "RegionMismatch"],
  ["AuthorizationHeaderMalformed", 400, "RegionMismatch"],
  ["IllegalLocationConstraintException", 400, "RegionMismatch"],
  ["IncompatibleLocationConstraintException", 400, "RegionMismatch"],
  ["InvalidLocationConstraint", 400, "RegionMismatch"],
  ["NotImplemented", 400, "NotSupported"],
  ["MethodNotAllowed", 405, "NotSupported"],
  ["Anything", 501, "NotSupported"],
])("%s (%i) is for a person to mend: %s", (code, status, reason) => {
  const error = next(code, status);
  expect(error).toBeInstanceOf(TerminalError);
  expect(error).toMatchObject({ reason });
});

test.each([
  ["InvalidAccessKeyId", 403, "CredentialsRefused", "1m"],
  ["SignatureDoesNotMatch", 403, "CredentialsRefused", "1m"],
  ["ExpiredToken", 400, "CredentialsRefused", "1m"],
  ["InvalidToken", 400, "CredentialsRefused", "1m"],
  ["AccessDenied", 403, "AccessDenied", "1m"],
  ["AllAccessDisabled", 403, "AccessDenied", "1m"],
  ["Unauthorized", 401, "AccessDenied", "1m"],
  ["RequestTimeTooSkewed", 403, "ClockSkewed", "1m"],
  ["TooManyBuckets", 400, "TooManyBuckets", "5m"],
  ["OperationAborted", 409, "OperationAborted", "5s"],
  ["BucketAlreadyOwnedByYou", 409, "OperationAborted", "5s"],
  ["TemporaryRedirect", 307, "OperationAborted", "5s"],
  ["SlowDown", 503, "SlowDown", "10s"],
  ["ServiceUnavailable", 503, "SlowDown", "10s"],
  ["RequestLimitExceeded", 503, "SlowDown", "10s"],
  ["TooManyRequests", 429, "SlowDown", "10s"],
] as const)("after %s (%i) it waits: %s", (code, status, reason, least) => {
  const error = next(code, status);
  expect(error).toBeInstanceOf(RetryAfterError);
  expect(error).toMatchObject({ reason });
  const span = error instanceof RetryAfterError ? parseDuration(error.after) : NaN;
  expect(span).toBeGreaterThanOrEqual(parseDuration(least));
  expect(span).toBeLessThanOrEqual(parseDuration(least) * 1.25 + 1);
});

test.each([
  ["InternalError", 500],
  ["BadGateway", 502],
  ["NoSuchUpload", 404],
  ["Unknown", undefined],
])("%s (%s) is tried again with backoff", (code, status) => {
  const error = next(code, status);
  expect([error instanceof RetryAfterError, error instanceof TerminalError]).toEqual([false, false]);
});

test("what a signal has ended is passed on as it is", async () => {
  const ended = new DOMException("ended", "AbortError");
  await expect(responseOrRefusal(Promise.reject(ended))).rejects.toBe(ended);
});

test("an answer that is not S3's is a refusal where the request was wrong, and else no answer", async () => {
  const answering = (httpStatusCode: number) =>
    responseOrRefusal(Promise.reject(Object.assign(new Error("odd"), { $metadata: { httpStatusCode } })));
  for (const status of [400, 404, 499])
    expect(await answering(status)).toMatchObject({ code: "NotS3", status });
  for (const status of [302, 500, 503]) await expect(answering(status)).rejects.toThrow("No usable answer");
});
