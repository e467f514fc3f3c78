import type { Milliseconds } from "@drover/controller";
import type { Entry } from "./ledger-data.ts";
import { mostMembers } from "../script-bounds.ts";
import { find, type Moment, settled } from "./moment.ts";
import { forgetGiven } from "./offers.ts";
import { setFails, waitUntil } from "./places.ts";
import { above, put, upTo } from "./sorted-set.ts";

/** A random number in [0, 1): spreads backoff. */
export type Jitter = number;

/** Keys whose lease has ended, taken back by one call. */
const takenBackAtOnce = 100;

/**
 * One more failure: a backoff window of `first * 2^(fails - 1)`, at most `longest`, spread over its upper half, as
 * client-go's exponential limiter with wait.Jitter has it.
 *
 * Nothing while the last failure's window still lasts: then this run was the wake that pierced it.
 *
 * @param span in place of the computed window: the server asked for that time, which is no failure
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

/** Leases whose time is over are taken back, but not before the runs that a new server does not know of are known. */
export function takeBackLeases(moment: Moment, jitter: Jitter): void {
  const { data, now } = moment;
  if (!settled(moment)) return;
  for (const key of upTo(data.states.leased, now, takenBackAtOnce)) {
    expire(moment, find(moment, key), jitter);
  }
}

/**
 * A run's lease ended without a verdict. The first such end is forgiven, the next ones back off: an object that kills
 * every worker must not loop.
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

/** Whether more may have been heard of the key than its last run knew when it began. */
export const heardDuringRun = ({ run, wakes }: Entry): boolean =>
  run.answers === undefined || wakes > run.answers;

/** Whether the window ends at once for what was heard during the run: once, as for a wake that comes after it. */
export function pierces(entry: Entry, heard: boolean): boolean {
  const first = heard && !entry.pierced;
  if (first) entry.pierced = true;
  return first;
}

/** The clock went back, or another server wrote the lease: it holds for one lease from now at most. */
export function shortenLeases(moment: Moment): void {
  const { data, now, lease } = moment;
  for (const key of above(data.states.leased, now + lease).slice(0, mostMembers)) {
    const entry = find(moment, key);
    entry.at = now + lease;
    put(data.states.leased, key, entry.at);
  }
}

/** Whether its lease is longer than any given now could be. */
export const leaseTooLong = ({ now, lease }: Moment, entry: Entry): boolean =>
  entry.state === "leased" && entry.at > now + lease;
