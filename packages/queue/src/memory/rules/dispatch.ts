import type { Milliseconds } from "@drover/controller";
import type { ClaimJob } from "../../worker/job-queue.ts";
import { controllerLimit, opensAt } from "./limits.ts";
import { entryOf, type CallContext, hasRecovered } from "./call-context.ts";
import { assign } from "./advertised-slots.ts";
import { becomeReady, enterState } from "./key-states.ts";
import { above, lowest, upTo } from "./sorted-set.ts";
import { takeNextKey, reopenThrottledQueues } from "./order.ts";

/** Keys with ended timers that one call makes ready. */
const maxKeysPromoted = 200;
/** Unused jobs that one call returns, for each of the two cases below. */
const maxUnclaimedJobs = 1_000;
/** Stands for a missing job number. */
const noJobNumber = "0";

/**
 * Assigns ready keys to advertised slots, and adds jobs for the others: in all no more than there are idle slots, or
 * `atLeast`. The rest stays ready, so that the ledger decides the order, and is chained to runs that end. A lost job is
 * added again.
 */
export function dispatch(context: CallContext, atLeast = 0): readonly ClaimJob[] {
  makeDueReady(context);
  return dispatchReady(context, atLeast);
}

export function dispatchReady(context: CallContext, atLeast = 0): readonly ClaimJob[] {
  const { data, now } = context;
  const jobs: ClaimJob[] = [];
  if (!hasRecovered(context) || data.paused.controller !== undefined) return jobs;
  const { dispatched, leased } = data.states;
  const idle = Math.max(1, data.slots) - leased.members.length;
  let room = Math.max(atLeast, idle) - dispatched.members.length;
  while (room-- > 0 && opensAt(context, controllerLimit) <= now) {
    const key = takeNextKey(context);
    if (key === undefined) break;
    const entry = entryOf(context, key);
    if (assign(context, entry)) continue;
    enterState(context, entry, "dispatched", now);
    if (entry.jobNumber !== undefined) continue; // its last job was not used, and serves now
    entry.jobNumber = String(++data.dispatchCount);
    jobs.push({ key, number: entry.jobNumber });
  }
  return jobs;
}

/** Makes keys with ended timers ready, and lets throttled queues take turns again once they open. */
export function makeDueReady(context: CallContext): void {
  const { waits } = context.data.states;
  for (const key of upTo(waits, context.now, maxKeysPromoted)) {
    const entry = entryOf(context, key);
    becomeReady(context, entry, entry.at);
  }
  reopenThrottledQueues(context);
}

/** The time until a key may be due; undefined if only a wake can make one due. */
export function nextDue(context: CallContext): Milliseconds | undefined {
  const { data, now } = context;
  const { waits, ready } = data.states;
  if (context.budget.flows <= 0) return 0; // more may be due
  const times = [lowest(waits) ?? Infinity, lowest(data.throttled) ?? Infinity];
  if (data.claimsFrom !== undefined) times.push(data.claimsFrom);
  const opens = opensAt(context, controllerLimit);
  if (opens > now && ready.members.length > 0) times.push(opens);
  const next = Math.min(...times);
  return next === Infinity ? undefined : Math.max(0, Math.ceil(next - now));
}

export function unclaimedJobs(context: CallContext, minAge: Milliseconds): readonly ClaimJob[] {
  const { now } = context;
  const { dispatched } = context.data.states;
  const late = upTo(dispatched, now - minAge, maxUnclaimedJobs);
  // The clock went back: the age of these jobs is unknown.
  const early = above(dispatched, now).slice(0, maxUnclaimedJobs);
  return [...late, ...early].map((key) => ({ key, number: entryOf(context, key).jobNumber ?? noJobNumber }));
}

/** Makes the key of a lost job ready again. Does nothing if the job was used meanwhile. */
export function dispatchAgain(context: CallContext, { key, number }: ClaimJob): void {
  const entry = entryOf(context, key);
  if (entry.state !== "dispatched" || (entry.jobNumber ?? noJobNumber) !== number) return;
  entry.jobNumber = undefined;
  becomeReady(context, entry, entry.at);
}
