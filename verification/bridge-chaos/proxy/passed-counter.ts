import type { Milliseconds } from "@drover/controller";
import { openEventLog } from "../../harness/event-log.ts";

/** Events of watches, and pages of lists. */
export type Passed = "event" | "page";

/** Counts what passes on its way to the bridge. */
export interface PassedCounter {
  /** Adds one, and resolves those that wait for it before it is passed on. */
  add(what: Passed): void;
  /** Resolves with true when so many more have passed; with false after `atMost`. */
  next(what: Passed, count: number, atMost: Milliseconds): Promise<boolean>;
}

export function passedCounter(): PassedCounter {
  const log = openEventLog<{ readonly passed: Passed }>();
  const countOf = (what: Passed): number => log.facts.filter(({ passed }) => passed === what).length;
  return {
    add: (passed) => log.note({ passed }),
    next(what, count, atMost) {
      const wanted = countOf(what) + count;
      return log.until(() => countOf(what) >= wanted, atMost);
    },
  };
}
