import type { Given, Offers } from "../ledger.ts";
import type { Entry, Offer } from "./ledger-data.ts";
import { accountLimit, limitOf } from "./limits.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { put, take as takeOut, upTo } from "./sorted-set.ts";
import { overlooked, take } from "./take.ts";
import { isPaused } from "./turns.ts";

/*
 * Idle slots that workers advertise, each under a token of its own, and the keys that are assigned to them.
 *
 * An offer stands for `settling` ms, and its worker renews it: the offers of a dead worker end within that time. Only
 * offers of the newest registered version of the function are used.
 *
 * An assigned key is leased under a new token, made for this assignment alone: an offer that arrives late advertises
 * the slot again, so two runs of one slot may be in progress. The new token starts with the slot's token, which
 * contains no colon.
 */

/** Ended offers that one call deletes. */
const forgottenAtOnce = 100;

/**
 * Advertises or retracts slots of a worker. Returns the keys that were assigned to them before, as their messages may
 * be lost.
 */
export function offer(moment: Moment, { tokens, ...by }: Offers, stands: boolean): readonly Given[] {
  const given: Given[] = [];
  for (const slot of tokens) {
    const mine = givenTo(moment, slot);
    if (mine) given.push(mine);
    else if (stands) stand(moment, slot, by);
    else withdraw(moment, slot);
  }
  if (stands && settled(moment)) giveOverlooked(moment);
  const { standing } = moment.data.offers;
  for (const slot of upTo(standing, moment.now, forgottenAtOnce)) withdraw(moment, slot);
  return given;
}

/** A job may be with a worker that has become busy. If a slot is idle, it gets the key of that job. */
function giveOverlooked(moment: Moment): void {
  const key = overlooked(moment);
  const entry = key === undefined ? undefined : find(moment, key);
  if (entry && !held(moment, entry)) give(moment, entry);
}

export function stand(
  { data, now, settling }: Moment,
  slot: string,
  { worker, version, askedAt }: Offer,
): void {
  put(data.offers.standing, slot, now + settling);
  data.offers.by.set(slot, { worker, version, askedAt });
}

export function withdraw({ data }: Moment, slot: string): void {
  takeOut(data.offers.standing, slot);
  data.offers.by.delete(slot);
}

/** The key that was assigned to a slot, if the slot still holds it. */
export function givenTo(moment: Moment, slot: string): Given | undefined {
  const { given } = moment.data.offers;
  const it = given.get(slot);
  const entry = it && find(moment, it.key);
  const { holder } = entry ?? {};
  if (it && entry && held(moment, entry) && holder?.token === it.token && holder.claim)
    return { slot, ...it, claim: holder.claim };
  given.delete(slot);
  return undefined;
}

/** Assigns a due key to an advertised slot, if there is one, and notifies its worker. Returns false if it did not. */
export function give(moment: Moment, entry: Entry): boolean {
  const { data, tell } = moment;
  const { account } = entry;
  if (isPaused(moment, entry)) return false;
  if (account !== undefined && limitOf(moment, accountLimit(account)).closedUntil > moment.now) return false;
  const free = freshest(moment);
  if (!free) return false;
  const { slot, worker, version, askedAt } = free;
  data.bells += 1;
  const token = `${slot}:${moment.now}:${data.bells}`;
  const answer = take(moment, entry, { token, version });
  if ("refused" in answer) return true;
  const it = { token, askedAt, key: entry.key };
  data.offers.given.set(slot, it);
  tell(worker, { slot, ...it, claim: answer.claimed });
  return true;
}

/** The key that was assigned under this token no longer belongs to its slot. */
export function forgetGiven({ data }: Moment, token: string): void {
  const [slot] = token.split(":", 1);
  if (slot !== undefined && slot !== token) data.offers.given.delete(slot);
}

/** The offer that was renewed last: its worker is the most likely to be alive. */
function freshest(moment: Moment): (Offer & { readonly slot: string }) | undefined {
  const { data, now, settling } = moment;
  const { standing, by } = data.offers;
  while (moment.left.offers-- > 0) {
    const slot = standing.members.at(-1);
    const stands = slot === undefined ? undefined : standing.scores.get(slot);
    if (slot === undefined || stands === undefined || stands <= now) return undefined;
    const offer = by.get(slot);
    withdraw(moment, slot);
    // Otherwise the clock went back since, or the version is no longer the newest.
    if (offer && stands <= now + settling && offer.version >= data.newest) return { ...offer, slot };
  }
  return undefined;
}
