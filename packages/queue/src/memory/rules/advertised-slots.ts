import type { IdleSlots, LeasedKey } from "../../ledger/ledger.ts";
import type { KeyEntry, Advertisement } from "./ledger-data.ts";
import { accountLimit, limitOf } from "./limits.ts";
import { entryOf, isLeaseHeld, type CallContext, hasRecovered } from "./call-context.ts";
import { put, removeMember, upTo } from "./sorted-set.ts";
import { overdueJobKey, startRun } from "./start-run.ts";
import { isPaused } from "./order.ts";

/*
 * Idle slots that workers advertise, each under a token of its own, and the keys that are assigned to them.
 *
 * An advertisement lasts for `recoveryWindow` ms, and its worker renews it: those of a dead worker expire within that
 * time. Only those of the newest registered version of the function are used.
 *
 * An assigned key is leased under a new token, made for this assignment alone: an advertisement that arrives late
 * advertises the slot again, so two runs of one slot may be in progress. The new token starts with the slot's token,
 * which contains no colon.
 */

/** Expired advertisements that one call deletes. */
const maxExpiredSlots = 100;

/**
 * Advertises or retracts slots of a worker. Returns the keys that were assigned to them before, as their messages may
 * be lost.
 */
export function advertiseOrRetract(
  context: CallContext,
  { tokens, ...advertisement }: IdleSlots,
  advertises: boolean,
): readonly LeasedKey[] {
  const assignments: LeasedKey[] = [];
  for (const slot of tokens) {
    const assignment = assignmentOf(context, slot);
    if (assignment) assignments.push(assignment);
    else if (advertises) advertise(context, slot, advertisement);
    else retract(context, slot);
  }
  if (advertises && hasRecovered(context)) assignOverdueKey(context);
  const { byExpiry } = context.data.advertisedSlots;
  for (const slot of upTo(byExpiry, context.now, maxExpiredSlots)) retract(context, slot);
  return assignments;
}

/** A job may be with a worker that has become busy. If a slot is idle, it gets the key of that job. */
function assignOverdueKey(context: CallContext): void {
  const key = overdueJobKey(context);
  const entry = key === undefined ? undefined : entryOf(context, key);
  if (entry && !isLeaseHeld(context, entry)) assign(context, entry);
}

export function advertise(
  { data, now, recoveryWindow }: CallContext,
  slot: string,
  { worker, version, askedAt }: Advertisement,
): void {
  put(data.advertisedSlots.byExpiry, slot, now + recoveryWindow);
  data.advertisedSlots.advertisements.set(slot, { worker, version, askedAt });
}

export function retract({ data }: CallContext, slot: string): void {
  removeMember(data.advertisedSlots.byExpiry, slot);
  data.advertisedSlots.advertisements.delete(slot);
}

/** The key that was assigned to a slot, if the slot still holds it. */
export function assignmentOf(context: CallContext, slot: string): LeasedKey | undefined {
  const { assignments } = context.data.advertisedSlots;
  const it = assignments.get(slot);
  const entry = it && entryOf(context, it.key);
  const { holder } = entry ?? {};
  if (it && entry && isLeaseHeld(context, entry) && holder?.token === it.token && holder.claim)
    return { slot, ...it, claim: holder.claim, arrival: "assigned" };
  assignments.delete(slot);
  return undefined;
}

/** Assigns a due key to an advertised slot, if there is one, and notifies its worker. Returns false if it did not. */
export function assign(context: CallContext, entry: KeyEntry): boolean {
  const { data, notify } = context;
  const { account } = entry;
  if (isPaused(context, entry)) return false;
  if (account !== undefined && limitOf(context, accountLimit(account)).throttledUntil > context.now)
    return false;
  const free = takeFreshestSlot(context);
  if (!free) return false;
  const { slot, worker, version, askedAt } = free;
  data.dispatchCount += 1;
  const token = `${slot}:${data.server}:${context.now}:${data.dispatchCount}`;
  const answer = startRun(context, entry, { slot, token, version, askedAt, arrival: "assigned" });
  if ("refused" in answer) return true;
  data.advertisedSlots.assignments.set(slot, { token, askedAt, key: entry.key });
  notify(worker, answer.claimed);
  return true;
}

/** The key that was assigned under this token no longer belongs to its slot. */
export function dropAssignment({ data }: CallContext, token: string): void {
  const [slot] = token.split(":", 1);
  if (slot !== undefined && slot !== token) data.advertisedSlots.assignments.delete(slot);
}

/** The advertisement that was renewed last: its worker is the most likely to be alive. */
function takeFreshestSlot(context: CallContext): (Advertisement & { readonly slot: string }) | undefined {
  const { data, now, recoveryWindow } = context;
  const { byExpiry, advertisements } = data.advertisedSlots;
  while (context.budget.slots-- > 0) {
    const slot = byExpiry.members.at(-1);
    const expiresAt = slot === undefined ? undefined : byExpiry.scores.get(slot);
    if (slot === undefined || expiresAt === undefined || expiresAt <= now) return undefined;
    const advertisement = advertisements.get(slot);
    retract(context, slot);
    // Otherwise the clock went back since, or the version is no longer the newest.
    if (advertisement && expiresAt <= now + recoveryWindow && advertisement.version >= data.newestVersion)
      return { ...advertisement, slot };
  }
  return undefined;
}
