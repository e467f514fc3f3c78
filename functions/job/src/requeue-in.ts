import { maxDuration, type Milliseconds, type ReconcileResult } from "@drover/controller";
import type { Job } from "./job.ts";

/** A run that writes nothing and asks for another one sooner than this would count as failed. */
const soonest: Milliseconds = 1_000;

/** Requeues after this time: a second at least, and at most the longest time possible, after which the next run requeues again. */
export const requeueIn = (wait: Milliseconds): ReconcileResult<typeof Job> => ({
  requeueAfter: `${Math.min(Math.max(soonest, Math.ceil(wait)), maxDuration)}ms`,
});
