import { processTimers, type Timers } from "@drover/timers";

/** The process clock, but a request that is to be repeated in a while is repeated at once. */
export const immediateRetryTimers: Timers = {
  ...processTimers,
  after: (span, what, callback) => processTimers.after(what === "retry" ? 0 : span, what, callback),
};
