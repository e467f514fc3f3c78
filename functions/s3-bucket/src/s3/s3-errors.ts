import { S3ServiceException } from "@aws-sdk/client-s3";
import { type Duration, parseDuration, RetryAfterError, serverTime, TerminalError } from "@drover/controller";
import { TooManyRequestsError } from "@drover/external";
import { z } from "zod";

/**
 * An error that S3 answered. It contains only what decisions need. The SDK's own error also has signatures, key ids and
 * the signed text, which must not reach a log as the `cause` of another error.
 */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  /** The error code, such as `NoSuchBucket`. */
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(error: Pick<S3ServiceException, "name" | "message" | "$metadata" | "$response">) {
    super(`${error.name}: ${error.message}`);
    this.code = error.name;
    this.status = error.$metadata.httpStatusCode;
    this.requestId = error.$metadata.requestId;
    this.headers = error.$response?.headers ?? {};
  }

  /** True if the server does not support the operation, so that trying again is useless. */
  get notSupported(): boolean {
    return this.status === 501 || this.status === 405 || this.code === "NotImplemented";
  }
}

/**
 * The answer to an S3 call, or its refusal, for the caller to decide on.
 * @throws RetryAfterError, or an error that is retried with backoff, if no S3 server answered.
 */
export async function responseOrRefusal<Answer>(call: Promise<Answer>): Promise<Answer | S3Refusal> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof S3ServiceException) return new S3Refusal(error);
    const status = statusOutsideFormat(error);
    if (status === undefined) throw noResponseError(error);
    const message = `HTTP ${status}, not in S3's error format`;
    return new S3Refusal({ name: "NotS3", message, $metadata: { httpStatusCode: status } });
  }
}

const answeredSchema = z.object({ $metadata: z.object({ httpStatusCode: z.int().min(400).max(499) }) });

/**
 * The HTTP status of a refusal that is not in S3's format: from a server's router, or from a proxy before the server.
 */
const statusOutsideFormat = (error: unknown): number | undefined =>
  answeredSchema.safeParse(error).data?.$metadata.httpStatusCode;

function noResponseError(error: unknown): unknown {
  // The credentials could not be had: see `s3-clients.ts`.
  if (error instanceof RetryAfterError) return error;
  if (!(error instanceof Error) || error.name === "AbortError") return error;
  if (error.name === "CredentialsProviderError") {
    return new RetryAfterError(
      "The function has no AWS credentials of its own. Give it some, or name a Secret in spec.credentialsSecret.",
      { after: "1m", reason: "CredentialsMissing", cause: error },
    );
  }
  return new Error(`No usable answer from the S3 server: ${error.message}`, { cause: error });
}

type NextAction =
  | { readonly then: "stop"; readonly reason: string; readonly help: string }
  | { readonly then: "wait"; readonly after: Duration; readonly reason: string; readonly help: string }
  | { readonly then: "slow down" };

const stop = (reason: string, help: string): NextAction => ({ then: "stop", reason, help });
const wait = (after: Duration, reason: string, help: string): NextAction => ({
  then: "wait",
  after,
  reason,
  help,
});

const credentialsRefused = wait(
  "1m",
  "CredentialsRefused",
  "Correct the Secret in spec.credentialsSecret, or the function's own credentials.",
);
const accessDenied = wait(
  "1m",
  "AccessDenied",
  "Allow it for the credentials in use. If the bucket is another account's, choose another spec.bucketName.",
);
const wrongRegion = stop("RegionMismatch", "Set spec.region to the region that the server expects.");
const busy = wait(
  "5s",
  "OperationAborted",
  "Another operation on this bucket is in progress; it is tried again.",
);
const slowDown: NextAction = { then: "slow down" };

const byCode: Readonly<Record<string, NextAction>> = {
  InvalidAccessKeyId: credentialsRefused,
  SignatureDoesNotMatch: credentialsRefused,
  ExpiredToken: credentialsRefused,
  InvalidToken: credentialsRefused,
  AccessDenied: accessDenied,
  RequestTimeTooSkewed: wait("1m", "ClockSkewed", "Set the clock of the machine that the function runs on."),
  BucketAlreadyExists: stop(
    "NameTaken",
    "Another account has a bucket of this name: choose another spec.bucketName.",
  ),
  InvalidBucketName: stop("InvalidName", "Choose another spec.bucketName."),
  InvalidTag: stop("InvalidTag", "Correct spec.tags."),
  PermanentRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
  IncompatibleLocationConstraintException: wrongRegion,
  InvalidLocationConstraint: wrongRegion,
  TooManyBuckets: wait(
    "5m",
    "TooManyBuckets",
    "Delete buckets that are not needed, or have the account's limit raised.",
  ),
  OperationAborted: busy,
  BucketAlreadyOwnedByYou: busy,
  TemporaryRedirect: busy,
  SlowDown: slowDown,
  ServiceUnavailable: slowDown,
};

/** The error that defines what happens next, after a refusal that the caller does not handle. */
export function errorAfter(refusal: S3Refusal, doing: string): Error {
  const next = refusal.notSupported ? notSupported : (byCode[refusal.code] ?? byStatus(refusal.status));
  const problem = `S3 refused to ${doing} (${refusal.message}).`;
  if (next === undefined) return new Error(`${problem} It is tried again.`, { cause: refusal });
  switch (next.then) {
    case "stop":
      return new TerminalError(`${problem} ${next.help}`, { reason: next.reason, cause: refusal });
    case "wait":
      return new RetryAfterError(`${problem} ${next.help}`, {
        after: pause(refusal, next.after),
        reason: next.reason,
        cause: refusal,
      });
    case "slow down": {
      const help = "It asks for fewer requests, so all objects that use these credentials wait.";
      return new TooManyRequestsError(`${problem} ${help}`, pause(refusal, "10s"), refusal);
    }
  }
}

const notSupported = stop("NotSupported", "This S3 server cannot do that: use another one.");

function byStatus(status: number | undefined): NextAction | undefined {
  if (status === 403 || status === 401) return accessDenied;
  return status === 429 || status === 503 ? slowDown : undefined;
}

const maxPause = parseDuration("1h");

/**
 * The time that the server asked for (an hour at most), if it did. Otherwise the default and up to a quarter more, so
 * that retries are spread.
 */
function pause(refusal: S3Refusal, standard: Duration): Duration {
  const header = refusal.headers["retry-after"];
  const asked =
    header === undefined
      ? NaN
      : /^\d+$/.test(header)
        ? Number(header) * 1_000
        : Date.parse(header) - serverTime(refusal.headers["date"]);
  const given = Number.isFinite(asked) && asked > 0;
  const span = given ? Math.min(asked, maxPause) : parseDuration(standard) * (1 + Math.random() / 4);
  return `${Math.ceil(span)}ms`;
}
