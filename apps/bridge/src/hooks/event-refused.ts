/** What came of an event that was not taken. */
export type Refusal =
  "unverified" | "malformed" | "unsupported" | "too large" | "too many keys" | "throttled" | "unavailable";

/** The HTTP status of each. 401 also for a hook that there is not: see `hook-app.ts`. */
export const statusOf = {
  unverified: 401,
  malformed: 400,
  unsupported: 415,
  "too large": 413,
  "too many keys": 422,
  throttled: 429,
  unavailable: 503,
} as const satisfies Readonly<Record<Refusal, number>>;

/** An event is not taken. The message goes to the sender and says what to do; it holds nothing of event or secret. */
export class EventRefusedError extends Error {
  override readonly name = "EventRefusedError";
  readonly refusal: Refusal;
  /** For the log of those who run the bridge: no sender is told more than that it was not verified. */
  readonly why: string;

  constructor(refusal: Refusal, message: string, why = message) {
    super(message);
    this.refusal = refusal;
    this.why = why;
  }
}

/** The same words for a hook that there is not: who guesses learns nothing. */
export const unverified = (why: string): EventRefusedError =>
  new EventRefusedError(
    "unverified",
    "There is no such hook, or the event is not signed as it wants. Check the URL, the secret and the clock.",
    why,
  );

/** To be sent again later. */
export const unavailable = (why: string): EventRefusedError =>
  new EventRefusedError("unavailable", "The event cannot be taken now. Send it again later.", why);
