import type { Milliseconds } from "@drover/controller";

/** Events of watches, and pages of lists. */
export type Passed = "event" | "page";

/** Counts what passes on its way to the bridge. */
export interface PassedCounter {
  /** Adds one, and resolves those that wait for it before it is passed on. */
  add(what: Passed): void;
  /** Resolves when so many more have passed, or after `atMost`. */
  next(what: Passed, count: number, atMost: Milliseconds): Promise<void>;
}

export function passedCounter(): PassedCounter {
  const passed = { event: 0, page: 0 };
  const waiting = new Set<() => void>();
  return {
    add(what) {
      passed[what] += 1;
      for (const look of [...waiting]) look();
    },
    next(what, count, atMost) {
      const wanted = passed[what] + count;
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const look = (): void => {
          if (passed[what] >= wanted) done();
        };
        const timer = setTimeout(done, atMost);
        waiting.add(look);
        look();
      });
    },
  };
}
