import { messageOf, type Milliseconds } from "@drover/controller";

/** The class of an API server's refusal, by what the caller can do about it. Switch on this, never on the message. */
export type ApiErrorKind =
  /** The object does not exist (or, on create, its namespace). */
  | "NotFound"
  /** The server does not serve this kind: its CRD is missing, the version is wrong, or it lacks the operation (501). */
  | "NotServed"
  /** The object changed since it was read, or a precondition failed: read again. */
  | "Conflict"
  | "AlreadyExists"
  /** 422 or 400: the object or the request is wrong; sending it again cannot help. */
  | "Invalid"
  | "Forbidden"
  /** Still 401 after the credentials were read again. */
  | "Unauthorized"
  | "TooManyRequests"
  /** 410: a resourceVersion or `continue` token is too old: list again. */
  | "Expired"
  /** The server ran out of time; a write may or may not have been applied. */
  | "Timeout"
  /** 5xx. */
  | "ServerError";

export interface ApiErrorDetail {
  readonly kind: ApiErrorKind;
  /** HTTP status; for an ERROR frame of a watch, the code of its Status. */
  readonly status: number;
  /** The Status' `reason`, such as `NotFound`; empty when the server sent none. */
  readonly reason: string;
  /** The message that the server sent. */
  readonly serverMessage: string;
  /** Method and path: `PATCH /apis/...`. */
  readonly request: string;
  /** How long the server asked the client to wait; already bounded. */
  readonly retryAfter?: Milliseconds | undefined;
  /** The Status' `details`, as received. */
  readonly details?: unknown;
}

/** For a 401. The reply does not show which of the two causes applies. */
const renewal =
  "The credentials have expired, or are not this server's: log in again or renew the token of the kubeconfig's user, and " +
  "check that its context is the right one (kubectl auth whoami)";

/** The API server refused the request. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ApiErrorKind;
  readonly status: number;
  readonly reason: string;
  readonly serverMessage: string;
  readonly request: string;
  readonly retryAfter: Milliseconds | undefined;
  readonly details: unknown;
  constructor(detail: ApiErrorDetail) {
    // Placed before the server's message: text in it that looks like a token is cut off where the error is shown.
    const advice = detail.kind === "Unauthorized" ? `. ${renewal}. The server's message` : "";
    super(`The API server answered ${detail.status} to ${detail.request}${advice}: ${detail.serverMessage}`);
    this.kind = detail.kind;
    this.status = detail.status;
    this.reason = detail.reason;
    this.serverMessage = detail.serverMessage;
    this.request = detail.request;
    this.retryAfter = detail.retryAfter;
    this.details = detail.details;
  }
}

/** No complete reply arrived: refused, reset, timed out, TLS. A write may or may not have been applied. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** The system's or TLS' code, such as `ECONNREFUSED`; `TIMEOUT` for our own deadline; empty if there is none. */
  readonly code: string;
  constructor(request: string, code: string, problem: string, cause?: unknown) {
    super(`No answer from the API server to ${request}: ${problem}`, { cause });
    this.code = code;
  }
}

/** Makes one error of any failure of the connection. */
export function connectionError(request: string, cause: unknown): ConnectionError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return new ConnectionError(request, code, messageOf(cause), cause);
}

/** A reply that no API server sends: a proxy's page, another kind, a body without end. */
export class MalformedReplyError extends Error {
  override readonly name = "MalformedReplyError";
  constructor(request: string, problem: string, cause?: unknown) {
    super(
      `The server that answered ${request} does not behave like an API server: ${problem} Check its address, and any proxy in between.`,
      { cause },
    );
  }
}

/** The guard of a guarded client refused the write: the run that it belongs to is over. Nothing was sent. */
export class WriteRefusedError extends Error {
  override readonly name = "WriteRefusedError";
  constructor(request: string, cause?: unknown) {
    const why = cause instanceof Error ? cause.message : "its guard refused it.";
    super(`Not sent: ${request}: ${why}`, { cause });
  }
}

/** True for the API server's refusal of one of these kinds; without kinds, of any kind. */
export function isApiError(error: unknown, ...kinds: readonly ApiErrorKind[]): error is ApiError {
  return error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));
}
