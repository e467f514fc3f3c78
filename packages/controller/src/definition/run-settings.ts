import type { Duration, Milliseconds } from "../duration.ts";
import { InvalidControllerError, positiveDuration, positiveInteger } from "./invalid-controller.ts";

/** How failed runs are retried: backoff windows double from `first` to `longest`, spread by jitter. */
export interface RetryDefinition {
  /** Default `500ms`. */
  readonly first?: Duration;
  /** Default `5m`. */
  readonly longest?: Duration;
  /** After this many failures in a row the key is parked until its object changes. Default: never. */
  readonly attempts?: number;
}

/** At most `perSecond` runs on average, and `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Rate limits for starting runs, all processes of the controller together. Default: no limits. */
export interface Limits {
  readonly runs?: Rate;
  /** Per external account, by a name of the author's choice. A run returns the account that it used: `account`. */
  readonly accounts?: Readonly<Record<string, Rate>>;
}

export interface Retry {
  readonly first: Milliseconds;
  readonly longest: Milliseconds;
  readonly attempts?: number;
}

const maxValue = 1_000_000;

/** @throws InvalidControllerError with the field, the problem and the accepted values. */
export function retryFrom(controller: string, definition: RetryDefinition = {}): Retry {
  const { first = "500ms", longest = "5m", attempts } = definition;
  const retry = {
    first: positiveDuration(controller, "retry.first", first),
    longest: positiveDuration(controller, "retry.longest", longest),
    ...(attempts !== undefined && {
      attempts: positiveInteger(controller, "retry.attempts", attempts, maxValue),
    }),
  };
  if (retry.longest < retry.first) {
    throw new InvalidControllerError(
      controller,
      "retry.longest",
      `(${longest}) is below retry.first (${first}).`,
    );
  }
  return retry;
}

/** @throws InvalidControllerError as `retryFrom`. */
export function limitsFrom(controller: string, { runs, accounts = {} }: Limits = {}): Limits {
  if (runs) checkRate(controller, "limits.runs", runs);
  for (const [account, rate] of Object.entries(accounts)) {
    if (account === "") {
      throw new InvalidControllerError(controller, "limits.accounts", "has an empty name; give it one.");
    }
    checkRate(controller, `limits.accounts.${account}`, rate);
  }
  return { ...(runs && { runs }), accounts };
}

function checkRate(controller: string, field: string, { perSecond, burst }: Rate): void {
  if (!(perSecond >= 0.001 && perSecond <= maxValue)) {
    const problem = `is ${perSecond}; give a number from 0.001 to ${maxValue}.`;
    throw new InvalidControllerError(controller, `${field}.perSecond`, problem);
  }
  positiveInteger(controller, `${field}.burst`, burst, maxValue);
}
