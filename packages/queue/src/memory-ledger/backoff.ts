import type { Milliseconds } from "@drover/controller";
import type { Entry } from "./ledger-data.ts";
import { mostMembers } from "../script-bounds.ts";
import { find, type Moment, settled } from "./moment.ts";
import { forgetGiven } from "./offers.ts";
import { setFails, waitUntil } from "./places.ts";
import { above, put, upTo } from "./sorted-set.ts";

/** A random number in [0, 1) that spreads backoff. */
export type Jitter = number;

/** Ended leases that one call takes back. */
const takenBackAtOnce = 100;

/**
 * Counts a failure and starts a backoff window of `first * 2^(fails - 1)`, at most `longest`, spread over its upper
 * half, like client-go's exponential limiter with wait.Jitter.
 *
 * Does nothing within the last failure's window: a wake had started this run early.
 *
 * @param span replaces the computed window. A server asked for that time, so nothing is counted
 */
export function fail(moment: Moment, entry: Entry, jitter: Jitter, span?: Milliseconds): void {
  if (entry.notBefore > moment.now) return;
  if (span === undefined) setFails(moment, entry, entry.fails + 1);
  entry.notBefore = moment.now + (span ?? window(moment, entry.fails, jitter));
  entry.pierced = false;
}

function window({ data }: Moment, fails: number, jitter: Jitter): Milliseconds {
  const { first, longest } = data.settings;
  const full = Math.min(longest, first * 2 ** Math.min(fails - 1, 40));
  return Math.max(1, spread(full, jitter));
}

export const spread = (full: Milliseconds, jitter: Jitter): Milliseconds =>
  Math.floor(full * (0.5 + jitter / 2));

/**
 * Takes back leases that have ended. Does nothing in the recovery window, in which runs that are missing from the data
 * announce themselves.
 */
export function takeBackLeases(moment: Moment, jitter: Jitter): void {
  const { data, now } = moment;
  if (!settled(moment)) return;
  for (const key of upTo(data.states.leased, now, takenBackAtOnce)) {
    expire(moment, find(moment, key), jitter);
  }
}

/**
 * The lease of a run ended without an outcome. The first time, the key is due at once; after that it backs off: an
 * object that kills every worker must not loop.
 */
export function expire(moment: Moment, entry: Entry, jitter: Jitter): void {
  if (entry.holder) forgetGiven(moment, entry.holder.token);
  entry.class ??= entry.run.class;
  if (entry.fails === 0) {
    setFails(moment, entry, 1);
    waitUntil(moment, entry, moment.now, "lease ended");
    return;
  }
  fail(moment, entry, jitter);
  const now = entry.forced || pierces(entry, heardDuringRun(entry));
  waitUntil(moment, entry, now ? moment.now : entry.notBefore, "lease ended");
}

/** True if the key may have been woken since its last run began. */
export const heardDuringRun = ({ run, wakes }: Entry): boolean =>
  run.answers === undefined || wakes > run.answers;

/** True if a wake during the run makes the key due within the window, as a wake after the run does: once per window. */
export function pierces(entry: Entry, heard: boolean): boolean {
  const first = heard && !entry.pierced;
  if (first) entry.pierced = true;
  return first;
}

/** Limits every lease to one lease from now: the clock may have gone back, or another server granted the lease. */
export function shortenLeases(moment: Moment): void {
  const { data, now, lease } = moment;
  for (const key of above(data.states.leased, now + lease).slice(0, mostMembers)) {
    const entry = find(moment, key);
    entry.at = now + lease;
    put(data.states.leased, key, entry.at);
  }
}

/** True if its lease ends later than any lease that is granted now. */
export const leaseTooLong = ({ now, lease }: Moment, entry: Entry): boolean =>
  entry.state === "leased" && entry.at > now + lease;
