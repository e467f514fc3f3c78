import type { LedgerTime } from "../../ledger/ledger.ts";
import { maxMembersChecked } from "../../redis/lua/script-bounds.ts";
import { blankAdvertisedSlots } from "./ledger-data.ts";
import { entryOf, type CallContext } from "./call-context.ts";
import { becomeReady } from "./key-states.ts";

/**
 * Adopts a new server, or one with other data: no key is claimed for `recoveryWindow` ms, in which runs in progress
 * announce themselves again. Jobs may have been lost, so keys that were dispatched are dispatched again.
 */
export function adoptServer(context: CallContext, server: string, incarnation: string): void {
  const { data, now, recoveryWindow } = context;
  data.server = server;
  data.incarnation = incarnation;
  data.firstIncarnation ||= incarnation;
  data.claimsFrom = now + recoveryWindow;
  data.advertisedSlots = blankAdvertisedSlots();
  // Jobs beyond this limit count as lost, and are added again soon.
  for (const key of data.states.dispatched.members.slice(0, maxMembersChecked)) {
    const entry = entryOf(context, key);
    entry.jobNumber = undefined;
    becomeReady(context, entry, now);
  }
}

/**
 * Ends the recovery window when its time is over. If the clock went back, it ends at most one such window from now.
 */
export function endRecoveryWindow({ data, now, recoveryWindow }: CallContext): void {
  const { claimsFrom } = data;
  if (claimsFrom !== undefined)
    data.claimsFrom = claimsFrom > now ? Math.min(claimsFrom, now + recoveryWindow) : undefined;
}

/** Returns the incarnation, the time, and how many ms of the recovery window are left. */
export const ledgerTime = ({ data: { incarnation, claimsFrom = 0 }, now: at }: CallContext): LedgerTime => ({
  incarnation: incarnation,
  at,
  recoveryLeft: Math.max(0, claimsFrom - at),
});
