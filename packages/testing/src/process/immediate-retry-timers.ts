import { processTimers, type Timers } from "@drover/timers";

/** The process clock, except that a failed request is retried at once. */
export const immediateRetryTimers: Timers = {
  ...processTimers,
  after: (span, what, callback) => processTimers.after(what === "retry" ? 0 : span, what, callback),
};
