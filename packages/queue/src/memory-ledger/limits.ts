import type { Limit } from "./ledger-data.ts";
import type { Moment } from "./moment.ts";

/**
 * Limits are leaky buckets (the generic cell rate algorithm): one time per limit says when its bucket is empty again. A
 * limit is also closed for as long as a server asked us to wait.
 */
export const controllerLimit = "controller";
export const accountLimit = (account: string): string => `account ${account}`;

const none: Limit = { rate: undefined, emptyAt: 0, closedUntil: 0 };
export const limitOf = ({ data }: Moment, name: string): Limit => data.limits.get(name) ?? none;

/**
 * From now on. A clock that went back, or a rate that was raised, must not close the limit for longer than a bucket takes
 * to become empty.
 */
export function setRate(moment: Moment, name: string, rate: NonNullable<Limit["rate"]>): void {
  const limit = limitOf(moment, name);
  const emptyAt = Math.min(limit.emptyAt, moment.now + rate.burst * rate.every);
  moment.data.limits.set(name, { ...limit, rate, emptyAt });
}

/** Nothing starts before that time. */
export function closeUntil(moment: Moment, name: string, time: number): void {
  const limit = limitOf(moment, name);
  moment.data.limits.set(name, { ...limit, closedUntil: Math.max(limit.closedUntil, time) });
}

/** Nobody asks for other rates than these. */
export function forgetRatesBut({ data }: Moment, names: ReadonlySet<string>): void {
  for (const [name, limit] of data.limits)
    if (!names.has(name)) data.limits.set(name, { ...limit, rate: undefined });
}

/** From when on something may start. */
export function opensAt(moment: Moment, name: string): number {
  const { rate, emptyAt, closedUntil } = limitOf(moment, name);
  return rate ? Math.max(closedUntil, emptyAt - (rate.burst - 1) * rate.every) : closedUntil;
}

/** Something starts. */
export function spend(moment: Moment, name: string): void {
  const limit = limitOf(moment, name);
  if (!limit.rate) return;
  const emptyAt = Math.max(limit.emptyAt, moment.now) + limit.rate.every;
  moment.data.limits.set(name, { ...limit, emptyAt });
}
