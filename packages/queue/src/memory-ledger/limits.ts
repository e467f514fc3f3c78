import type { Rate } from "@drover/controller";
import type { Limit } from "./ledger-data.ts";
import type { Moment } from "./moment.ts";

/**
 * Limits are leaky buckets (the generic cell rate algorithm): each stores the time at which its bucket is empty again.
 * A limit is also closed for as long as an external server asked for.
 */
export const controllerLimit = "controller";
export const accountLimit = (account: string): string => `account ${account}`;

const none: Limit = { rate: undefined, emptyAt: 0, closedUntil: 0 };
export const limitOf = ({ data }: Moment, name: string): Limit => data.limits.get(name) ?? none;

/**
 * Replaces all rates. Even if the clock went back or a rate was raised, no limit stays closed longer than a full bucket
 * takes to drain.
 */
export function setRates(moment: Moment, rates: ReadonlyMap<string, Rate>): void {
  const { limits } = moment.data;
  for (const [name, limit] of limits) if (!rates.has(name)) limits.set(name, { ...limit, rate: undefined });
  for (const [name, { perSecond, burst }] of rates) {
    const limit = limitOf(moment, name);
    const every = 1_000 / perSecond;
    const emptyAt = Math.min(limit.emptyAt, moment.now + burst * every);
    limits.set(name, { ...limit, rate: { every, burst }, emptyAt });
  }
}

/** Closes a limit until that time: no run that counts against it starts before. */
export function closeUntil(moment: Moment, name: string, time: number): void {
  const limit = limitOf(moment, name);
  moment.data.limits.set(name, { ...limit, closedUntil: Math.max(limit.closedUntil, time) });
}

/** The time from which a run that counts against the limit may start. */
export function opensAt(moment: Moment, name: string): number {
  const { rate, emptyAt, closedUntil } = limitOf(moment, name);
  return rate ? Math.max(closedUntil, emptyAt - (rate.burst - 1) * rate.every) : closedUntil;
}

/** Counts the start of a run against a limit. */
export function spend(moment: Moment, name: string): void {
  const limit = limitOf(moment, name);
  if (!limit.rate) return;
  const emptyAt = Math.max(limit.emptyAt, moment.now) + limit.rate.every;
  moment.data.limits.set(name, { ...limit, emptyAt });
}
