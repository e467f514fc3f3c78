import { ServiceException } from "@smithy/core/client";
import { type Duration, parseDuration, RetryAfterError, serverTime, TerminalError } from "@drover/controller";
import { type Creation, TooManyRequestsError } from "@drover/external";
import { z } from "zod";

/**
 * An error that an AWS service answered. It contains only what decisions need. The SDK's own error also has signatures,
 * key ids and the signed text, which must not reach a log as the `cause` of another error.
 */
export class AwsRefusal extends Error {
  override readonly name = "AwsRefusal";
  /** The error code, such as `NoSuchBucket`. */
  readonly code: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(error: Pick<ServiceException, "name" | "message" | "$metadata" | "$response">) {
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

/** The action after a refusal: nothing until the spec changes, another try after a time, or fewer requests. */
export type NextAction =
  | { readonly then: "stop"; readonly reason: string; readonly help: string }
  | { readonly then: "wait"; readonly after: Duration; readonly reason: string; readonly help: string }
  | { readonly then: "slow down" };

/** Nothing is tried until the spec changes. */
export const stop = (reason: string, help: string): NextAction => ({ then: "stop", reason, help });
/** It is tried again after this time. */
export const wait = (after: Duration, reason: string, help: string): NextAction => ({
  then: "wait",
  after,
  reason,
  help,
});
const slowDown: NextAction = { then: "slow down" };

/** The errors of one AWS service. */
export interface AwsErrors {
  /**
   * The answer to a call, or its refusal, for the caller to decide on.
   * @throws RetryAfterError, or an error that is retried with backoff, if the service did not answer.
   */
  readonly responseOrRefusal: <Answer>(call: Promise<Answer>) => Promise<Answer | AwsRefusal>;
  /** The error that defines what happens next, after a refusal that the caller does not handle. */
  readonly errorAfter: (refusal: AwsRefusal, doing: string) => Error;
  /**
   * The result of a creation that was refused, if certainly nothing was created. A conflict may be with an interrupted
   * request of our own, and a server error may come after the creation.
   * @throws the error of `errorAfter` if something may have been created.
   */
  readonly refusedCreation: (refusal: AwsRefusal, doing: string) => Creation;
}

/**
 * @param service its name in messages.
 * @param byCode what follows a refusal with these codes, in addition to those that all services have.
 */
export function awsErrors(
  service: string,
  byCode: Readonly<Record<string, NextAction>>,
  accessDenied: NextAction,
): AwsErrors {
  const actions = new Map(Object.entries({ ...common, AccessDenied: accessDenied, ...byCode }));
  const notSupported = stop("NotSupported", `This ${service} server cannot do that: use another one.`);
  const byStatus = (status: number | undefined): NextAction | undefined => {
    if (status === 403 || status === 401) return accessDenied;
    return status === 429 || status === 503 ? slowDown : undefined;
  };
  const errorAfter: AwsErrors["errorAfter"] = (refusal, doing) => {
    const next = refusal.notSupported
      ? notSupported
      : (actions.get(refusal.code) ?? byStatus(refusal.status));
    return errorOf(next, refusal, `${service} refused to ${doing} (${refusal.message}).`);
  };
  return {
    async responseOrRefusal(call) {
      try {
        return await call;
      } catch (error) {
        if (error instanceof ServiceException) return new AwsRefusal(error);
        const status = statusOutsideFormat(error);
        if (status === undefined) throw noResponseError(service, error);
        const message = `HTTP ${status}, not in ${service}'s error format`;
        return new AwsRefusal({ name: `Not${service}`, message, $metadata: { httpStatusCode: status } });
      }
    },
    errorAfter,
    refusedCreation(refusal, doing) {
      const error = errorAfter(refusal, doing);
      const { notSupported: isUnknown, status = 500 } = refusal;
      const nothingMade = isUnknown || (status < 500 && status !== 409);
      if (nothingMade && (error instanceof RetryAfterError || error instanceof TerminalError)) {
        return { outcome: "refused", error };
      }
      throw error;
    },
  };
}

function errorOf(next: NextAction | undefined, refusal: AwsRefusal, problem: string): Error {
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

const answeredSchema = z.object({ $metadata: z.object({ httpStatusCode: z.int().min(400).max(499) }) });

/**
 * The HTTP status of a refusal that is not in the service's format: from a server's router, or from a proxy before the
 * server.
 */
const statusOutsideFormat = (error: unknown): number | undefined =>
  answeredSchema.safeParse(error).data?.$metadata.httpStatusCode;

function noResponseError(service: string, error: unknown): unknown {
  // The credentials could not be had: see `aws-clients.ts`.
  if (error instanceof RetryAfterError) return error;
  if (!(error instanceof Error) || error.name === "AbortError") return error;
  if (error.name === "CredentialsProviderError") {
    return new RetryAfterError(
      "The function has no AWS credentials of its own. Give it some, or name a Secret in spec.credentialsSecret.",
      { after: "1m", reason: "CredentialsMissing", cause: error },
    );
  }
  return new Error(`No usable answer from the ${service} server: ${error.message}`, { cause: error });
}

const credentialsRefused = wait(
  "1m",
  "CredentialsRefused",
  "Correct the Secret in spec.credentialsSecret, or the function's own credentials.",
);
const clockSkewed = wait("1m", "ClockSkewed", "Set the clock of the machine that the function runs on.");

/** https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html, and what S3 answers in their place. */
const common: Readonly<Record<string, NextAction>> = {
  ExpiredToken: credentialsRefused,
  ExpiredTokenException: credentialsRefused,
  InvalidAccessKeyId: credentialsRefused,
  InvalidClientTokenId: credentialsRefused,
  InvalidToken: credentialsRefused,
  SignatureDoesNotMatch: credentialsRefused,
  UnrecognizedClientException: credentialsRefused,
  RequestExpired: clockSkewed,
  RequestTimeTooSkewed: clockSkewed,
  RequestLimitExceeded: slowDown,
  ServiceUnavailable: slowDown,
  SlowDown: slowDown,
  Throttling: slowDown,
  ThrottlingException: slowDown,
};

const maxPause = parseDuration("1h");

/**
 * The time that the server asked for (an hour at most), if it did. Otherwise the default and up to a quarter more, so
 * that retries are spread.
 */
function pause(refusal: AwsRefusal, standard: Duration): Duration {
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
