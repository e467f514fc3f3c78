import { maxDuration, type Milliseconds } from "@drover/controller";

/** A run that writes nothing and asks for another one sooner than this would count as failed. */
const soonest: Milliseconds = 1_000;

/**
 * Requeues after this time: at most the longest time possible, after which the next run requeues again.
 *
 * @param least for a run that has written, which may ask for the next one sooner.
 */
export const requeueIn = (wait: Milliseconds, least: Milliseconds = soonest) =>
  ({ requeueAfter: `${Math.min(Math.max(least, Math.ceil(wait)), maxDuration)}ms` }) as const;
