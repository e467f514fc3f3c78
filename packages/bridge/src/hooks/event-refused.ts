/** Why an event was not accepted. */
export type EventRefusal =
  "unverified" | "malformed" | "unsupported" | "too large" | "too many keys" | "throttled" | "unavailable";

/** The HTTP status of each refusal. 401 also if the hook does not exist: see `hook-app.ts`. */
export const httpStatusByRefusal = {
  unverified: 401,
  malformed: 400,
  unsupported: 415,
  "too large": 413,
  "too many keys": 422,
  throttled: 429,
  unavailable: 503,
} as const satisfies Readonly<Record<EventRefusal, number>>;

/**
 * An event was not accepted. The message is sent to the sender, states the remedy, and contains no part of the event or
 * secret.
 */
export class EventRefusedError extends Error {
  override readonly name = "EventRefusedError";
  readonly refusal: EventRefusal;
  /** The reason for the bridge's log. A sender gets no more detail than that its event was not verified. */
  readonly why: string;

  constructor(refusal: EventRefusal, message: string, why = message) {
    super(message);
    this.refusal = refusal;
    this.why = why;
  }
}

/** The message is the same if the hook does not exist, so that guessing names reveals nothing. */
export const unverified = (why: string): EventRefusedError =>
  new EventRefusedError(
    "unverified",
    "There is no such hook, or the event is not signed for it. Check the URL, the secret and the clock.",
    why,
  );

/** The sender should send the event again later. */
export const unavailable = (why: string): EventRefusedError =>
  new EventRefusedError("unavailable", "The event cannot be accepted now. Send it again later.", why);
