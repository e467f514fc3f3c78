import type { Milliseconds } from "@drover/controller";

/** A clock that stands still until it is told to go on: no test waits. */
export interface SteppedClock {
  /** Milliseconds since 1970. */
  readonly now: () => Milliseconds;
  readonly date: () => Date;
  /** Goes on to a time. It never goes back. */
  advanceTo(time: Milliseconds): void;
}

/** @param from ISO 8601 */
export function steppedClock(from = "2026-01-01T00:00:00Z"): SteppedClock {
  let time = Date.parse(from);
  return {
    now: () => time,
    date: () => new Date(time),
    advanceTo: (next) => void (time = Math.max(time, Math.ceil(next))),
  };
}
