import type { SentAnswer } from "./sent-answer.ts";

/**
 * The HTTP status for each reason to refuse a call, a completion or an event. No refusal is signed: one of a call
 * decides no outcome, and the gateway calls again.
 */
const httpStatusByRefusal = {
  /** Also if the address does not exist, so that guessing addresses reveals nothing. */
  unverified: 401,
  malformed: 400,
  expired: 408,
  "not held": 409,
  "too large": 413,
  unsupported: 415,
  misdirected: 421,
  "too many keys": 422,
  throttled: 429,
  unavailable: 503,
} as const;

/** Why a message was refused. */
export type Refusal = keyof typeof httpStatusByRefusal;

/**
 * A message was refused. `message` goes to the sender: it contains what to do, and no part of the message or of a
 * secret.
 */
export class MessageRefusedError extends Error {
  override readonly name = "MessageRefusedError";
  readonly refusal: Refusal;
  /** The exact reason, for the log. The sender of an unverified message gets only `message`. */
  readonly why: string;

  constructor(refusal: Refusal, message: string, why = message) {
    super(message);
    this.refusal = refusal;
    this.why = why;
  }
}

/** The sender gets one text for all reasons, so that it learns neither which addresses exist nor how close it was. */
export const unverified = (why: string): MessageRefusedError =>
  new MessageRefusedError(
    "unverified",
    "There is no such address, or the message is not signed for it. Check the URL, the secret and the clocks.",
    why,
  );

/** The sender should send the message again later. */
export const unavailable = (why: string): MessageRefusedError =>
  new MessageRefusedError("unavailable", "The message cannot be accepted now. Send it again later.", why);

/** The `retry-after` header in seconds, by refusal. */
export type RetryAfter = Readonly<Partial<Record<Refusal, number>>>;

const defaultRetryAfter: RetryAfter = { throttled: 1, unavailable: 5 };

/** The answer to the sender of a refused message. */
export function refusalAnswer(
  { refusal, message }: MessageRefusedError,
  retryAfter: RetryAfter = defaultRetryAfter,
): SentAnswer {
  const after = retryAfter[refusal];
  return {
    status: httpStatusByRefusal[refusal],
    headers: {
      "content-type": "application/json",
      ...(after !== undefined && { "retry-after": String(after) }),
      ...(refusal === "unverified" && { "www-authenticate": "Webhook" }),
    },
    body: JSON.stringify({ error: message }),
  };
}
