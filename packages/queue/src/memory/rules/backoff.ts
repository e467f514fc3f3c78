import type { Milliseconds } from "@drover/controller";
import type { KeyEntry } from "./ledger-data.ts";
import { maxMembersChecked } from "../../redis/lua/script-bounds.ts";
import { entryOf, type CallContext, hasRecovered } from "./call-context.ts";
import { dropAssignment } from "./advertised-slots.ts";
import { setFails, waitUntil } from "./key-states.ts";
import { above, put, upTo } from "./sorted-set.ts";

/** A random number in [0, 1) that spreads backoff. */
export type Jitter = number;

/** Ended leases that one call takes back. */
const maxLeasesTakenBack = 100;

/**
 * Counts a failure and starts a backoff window of `first * 2^(fails - 1)`, at most `longest`, spread over its upper
 * half, like client-go's exponential limiter with wait.Jitter.
 *
 * Does nothing within the last failure's window: a wake had started this run early.
 *
 * @param span replaces the computed window. A server asked for that time, so nothing is counted
 */
export function countFailure(
  context: CallContext,
  entry: KeyEntry,
  jitter: Jitter,
  span?: Milliseconds,
): void {
  if (entry.notBefore > context.now) return;
  if (span === undefined) setFails(context, entry, entry.fails + 1);
  entry.notBefore = context.now + (span ?? backoffWindow(context, entry.fails, jitter));
  entry.earlyRunUsed = false;
}

function backoffWindow({ data }: CallContext, fails: number, jitter: Jitter): Milliseconds {
  const { first, longest } = data.settings;
  const full = Math.min(longest, first * 2 ** Math.min(fails - 1, 40));
  return Math.max(1, withJitter(full, jitter));
}

export const withJitter = (full: Milliseconds, jitter: Jitter): Milliseconds =>
  Math.floor(full * (0.5 + jitter / 2));

/**
 * Takes back leases that have ended. Does nothing in the recovery window, in which runs that are missing from the data
 * announce themselves.
 */
export function takeBackLeases(context: CallContext, jitter: Jitter): void {
  const { data, now } = context;
  if (!hasRecovered(context)) return;
  for (const key of upTo(data.states.leased, now, maxLeasesTakenBack)) {
    expireLease(context, entryOf(context, key), jitter);
  }
}

/**
 * The lease of a run ended without an outcome. The first time, the key is due at once; after that it backs off: an
 * object that kills every worker must not loop.
 */
export function expireLease(context: CallContext, entry: KeyEntry, jitter: Jitter): void {
  if (entry.holder) dropAssignment(context, entry.holder.token);
  entry.class ??= entry.startedRun.class;
  if (entry.fails === 0) {
    setFails(context, entry, 1);
    waitUntil(context, entry, context.now, "lease ended");
    return;
  }
  countFailure(context, entry, jitter);
  const now = entry.forced || useEarlyRun(entry, wokenDuringRun(entry));
  waitUntil(context, entry, now ? context.now : entry.notBefore, "lease ended");
}

/** True if the key may have been woken since its last run began. */
export const wokenDuringRun = ({ startedRun, wakes }: KeyEntry): boolean =>
  startedRun.answeredWakes === undefined || wakes > startedRun.answeredWakes;

/** True if a wake during the run makes the key due within the window, as a wake after the run does: once per window. */
export function useEarlyRun(entry: KeyEntry, woken: boolean): boolean {
  const first = woken && !entry.earlyRunUsed;
  if (first) entry.earlyRunUsed = true;
  return first;
}

/** Limits every lease to one lease from now: the clock may have gone back, or another server granted the lease. */
export function clampLeases(context: CallContext): void {
  const { data, now, lease } = context;
  for (const key of above(data.states.leased, now + lease).slice(0, maxMembersChecked)) {
    const entry = entryOf(context, key);
    entry.at = now + lease;
    put(data.states.leased, key, entry.at);
  }
}

/** True if its lease ends later than any lease that is granted now. */
export const isLeaseTooLong = ({ now, lease }: CallContext, entry: KeyEntry): boolean =>
  entry.state === "leased" && entry.at > now + lease;
