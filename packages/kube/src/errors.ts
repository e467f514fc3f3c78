import { messageOf, type Milliseconds } from "@drover/controller";

/** What a refusal of the API server means for whoever asked. Switch on this, never on the message. */
export type ApiErrorKind =
  /** The object is not there (or, on create, its namespace). */
  | "NotFound"
  /** The server does not serve this kind: its CRD is missing, the version is wrong, or it has no such thing (501). */
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
  /** The server ran out of time; a write may have happened or not. */
  | "Timeout"
  /** 5xx. */
  | "ServerError";

export interface ApiErrorDetail {
  readonly kind: ApiErrorKind;
  /** HTTP status; for an ERROR frame of a watch, the code of its Status. */
  readonly status: number;
  /** The Status' `reason`, such as `NotFound`; empty when the server sent none. */
  readonly reason: string;
  /** The server's own words. */
  readonly serverMessage: string;
  /** What was asked: `PATCH /apis/...`. */
  readonly request: string;
  /** How long the server asked to be left alone; already bounded. */
  readonly retryAfter?: Milliseconds | undefined;
  /** The Status' `details`, as they came. */
  readonly details?: unknown;
}

/** For a 401. The server does not say which of the two it is. */
const renewal =
  "The credentials have expired, or are not this server's: log in again or renew the token of the kubeconfig's user, and " +
  "look whether its context is the right one (kubectl auth whoami)";

/** The API server answered, and the answer is no. */
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
    // Before the server's words, of which what looks like a token is cut where the message is shown.
    const advice = detail.kind === "Unauthorized" ? `. ${renewal}. It said` : "";
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

/** No whole answer came: refused, reset, timed out, TLS. A write may have happened or not. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** The system's or TLS' code, such as `ECONNREFUSED`; `TIMEOUT` for our own deadline; empty when there is none. */
  readonly code: string;
  constructor(request: string, code: string, problem: string, cause?: unknown) {
    super(`No answer from the API server to ${request}: ${problem}`, { cause });
    this.code = code;
  }
}

/** What went wrong on the way, as one error. */
export function connectionError(request: string, cause: unknown): ConnectionError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return new ConnectionError(request, code, messageOf(cause), cause);
}

/** An answer came that no API server gives: a proxy's page, another kind, a body without end. */
export class MalformedReplyError extends Error {
  override readonly name = "MalformedReplyError";
  constructor(request: string, problem: string, cause?: unknown) {
    super(
      `What answered ${request} does not speak like an API server: ${problem} Check the server's address and what stands in between.`,
      { cause },
    );
  }
}

/** The guard of a guarded client said no: the run that this write belongs to is over. Nothing was sent. */
export class WriteRefusedError extends Error {
  override readonly name = "WriteRefusedError";
  constructor(request: string, cause?: unknown) {
    const why = cause instanceof Error ? cause.message : "its guard refused it.";
    super(`Not sent: ${request}: ${why}`, { cause });
  }
}

/** Is it the API server's refusal of one of these kinds? */
export function isApiError(error: unknown, ...kinds: readonly ApiErrorKind[]): error is ApiError {
  return error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));
}
