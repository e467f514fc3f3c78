import type { LedgerMoment } from "../ledger.ts";
import { mostMembers } from "../script-bounds.ts";
import { blankOffers } from "./ledger-data.ts";
import { find, type Moment } from "./moment.ts";
import { becomeReady } from "./places.ts";

/**
 * A new server, or one whose data was replaced: nothing is claimed for `settling` ms, in which the runs that are under
 * way announce themselves again; bells may be lost, so what was rung is rung again.
 */
export function adopt(moment: Moment, server: string, era: string): void {
  const { data, now, settling } = moment;
  data.server = server;
  data.era = era;
  data.origin ||= era;
  data.claimsFrom = now + settling;
  data.offers = blankOffers();
  // Those beyond count as bells that are lost, and are rung again soon.
  for (const key of data.states.rung.members.slice(0, mostMembers)) {
    const entry = find(moment, key);
    entry.bell = undefined;
    becomeReady(moment, entry, now);
  }
}

/** Over once it was over; and where the clock went back, it takes one settling time from now at most. */
export function passSettling({ data, now, settling }: Moment): void {
  const { claimsFrom } = data;
  if (claimsFrom !== undefined)
    data.claimsFrom = claimsFrom > now ? Math.min(claimsFrom, now + settling) : undefined;
}

/** The era and the time, and in how many ms the ledger will have settled. */
export const stand = ({ data: { era, claimsFrom = 0 }, now: at }: Moment): LedgerMoment => ({
  era,
  at,
  settlesIn: Math.max(0, claimsFrom - at),
});
