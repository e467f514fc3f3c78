import type { Rate } from "@drover/controller";
import type { RateLimit } from "./ledger-data.ts";
import type { CallContext } from "./call-context.ts";

/**
 * Limits are leaky buckets (the generic cell rate algorithm): each stores the time at which its bucket is empty again.
 * A limit is also closed for as long as an external server asked for.
 */
export const controllerLimit = "controller";
export const accountLimit = (account: string): string => `account ${account}`;

const noLimit: RateLimit = { rate: undefined, emptyAt: 0, throttledUntil: 0 };
export const limitOf = ({ data }: CallContext, name: string): RateLimit => data.limits.get(name) ?? noLimit;

/**
 * Replaces all rates. Even if the clock went back or a rate was raised, no limit stays closed longer than a full bucket
 * takes to drain.
 */
export function setRates(context: CallContext, rates: ReadonlyMap<string, Rate>): void {
  const { limits } = context.data;
  for (const [name, limit] of limits) if (!rates.has(name)) limits.set(name, { ...limit, rate: undefined });
  for (const [name, { perSecond, burst }] of rates) {
    const limit = limitOf(context, name);
    const every = 1_000 / perSecond;
    const emptyAt = Math.min(limit.emptyAt, context.now + burst * every);
    limits.set(name, { ...limit, rate: { every, burst }, emptyAt });
  }
}

/** Closes a limit until that time: no run that counts against it starts before. */
export function throttleUntil(context: CallContext, name: string, time: number): void {
  const limit = limitOf(context, name);
  context.data.limits.set(name, { ...limit, throttledUntil: Math.max(limit.throttledUntil, time) });
}

/** The time from which a run that counts against the limit may start. */
export function opensAt(context: CallContext, name: string): number {
  const { rate, emptyAt, throttledUntil } = limitOf(context, name);
  return rate ? Math.max(throttledUntil, emptyAt - (rate.burst - 1) * rate.every) : throttledUntil;
}

/** Counts the start of a run against a limit. */
export function spend(context: CallContext, name: string): void {
  const limit = limitOf(context, name);
  if (!limit.rate) return;
  const emptyAt = Math.max(limit.emptyAt, context.now) + limit.rate.every;
  context.data.limits.set(name, { ...limit, emptyAt });
}
