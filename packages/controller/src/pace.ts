import type { Duration, Milliseconds } from "./duration.ts";
import { InvalidControllerError, positive, whole } from "./invalid-controller.ts";

/** How failed runs are tried again; windows double, spread by jitter, from the first to the longest. */
export interface RetryDefinition {
  /** Default `500ms`. */
  readonly first?: Duration;
  /** Default `5m`. */
  readonly longest?: Duration;
  /** After so many failures in a row the key is parked until its object changes. Default: never. */
  readonly attempts?: number;
}

/** At most `perSecond` in the long run, and `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Runs that may start, all functions of the controller together. None are limited by default. */
export interface Limits {
  readonly runs?: Rate;
  /** Per account of the outside world, by a name of the author's choice. A run says which it used: `account`. */
  readonly accounts?: Readonly<Record<string, Rate>>;
}

export interface Retry {
  readonly first: Milliseconds;
  readonly longest: Milliseconds;
  readonly attempts?: number;
}

const most = 1_000_000;

/** @throws InvalidControllerError naming the field, what is wrong with it and what it may be. */
export function retryFrom(controller: string, definition: RetryDefinition = {}): Retry {
  const { first = "500ms", longest = "5m", attempts } = definition;
  const retry = {
    first: positive(controller, "retry.first", first),
    longest: positive(controller, "retry.longest", longest),
    ...(attempts !== undefined && { attempts: whole(controller, "retry.attempts", attempts, most) }),
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
  if (!(perSecond >= 0.001 && perSecond <= most)) {
    const problem = `is ${perSecond}; give a number from 0.001 to ${most}.`;
    throw new InvalidControllerError(controller, `${field}.perSecond`, problem);
  }
  whole(controller, `${field}.burst`, burst, most);
}
