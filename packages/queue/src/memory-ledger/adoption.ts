import type { LedgerMoment } from "../ledger.ts";
import { mostMembers } from "../script-bounds.ts";
import { blankOffers } from "./ledger-data.ts";
import { find, type Moment } from "./moment.ts";
import { becomeReady } from "./places.ts";

/**
 * Adopts a new server, or one with other data: no key is claimed for `settling` ms, in which runs in progress announce
 * themselves again. Jobs may have been lost, so keys that were dispatched are dispatched again.
 */
export function adopt(moment: Moment, server: string, era: string): void {
  const { data, now, settling } = moment;
  data.server = server;
  data.era = era;
  data.origin ||= era;
  data.claimsFrom = now + settling;
  data.offers = blankOffers();
  // Jobs beyond this limit count as lost, and are added again soon.
  for (const key of data.states.rung.members.slice(0, mostMembers)) {
    const entry = find(moment, key);
    entry.bell = undefined;
    becomeReady(moment, entry, now);
  }
}

/**
 * Ends the recovery window when its time is over. If the clock went back, it ends within one settling time from now.
 */
export function passSettling({ data, now, settling }: Moment): void {
  const { claimsFrom } = data;
  if (claimsFrom !== undefined)
    data.claimsFrom = claimsFrom > now ? Math.min(claimsFrom, now + settling) : undefined;
}

/** Returns the era, the time, and how many ms of the recovery window are left. */
export const stand = ({ data: { era, claimsFrom = 0 }, now: at }: Moment): LedgerMoment => ({
  era,
  at,
  settlesIn: Math.max(0, claimsFrom - at),
});
