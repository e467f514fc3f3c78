import type { Given, Offers } from "../ledger.ts";
import type { Entry, Offer } from "./ledger-data.ts";
import { accountLimit, limitOf } from "./limits.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { put, take as takeOut, upTo } from "./sorted-set.ts";
import { overlooked, take } from "./take.ts";
import { isPaused } from "./turns.ts";

/*
 * Free slots that workers offer, each under a token of its own, and what was given to them.
 *
 * An offer stands for `settling` ms, and for as long again whenever its worker says so: of a worker that died, none stands
 * for longer. It stands only for the newest function that is here.
 *
 * What a slot is **given** is leased under another token, of that giving alone: an offer that comes late stands anew, and
 * then two runs may be under way of one slot. It begins with the slot's, which has no colon.
 */

/** Offers whose time is over, forgotten by one call. */
const forgottenAtOnce = 100;

/** A worker says which of its slots are free, or are not any more; answers what they were given. */
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

/** A bell may have come to a worker whose slots are all busy by now: it is not waited for where one is free. */
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

/** What was given to a slot, as far as that still holds it. */
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

/** Gives a key whose turn it is to who offers a slot, if anybody does. */
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

/** What was given under a token is its slot's no more. */
export function forgetGiven({ data }: Moment, token: string): void {
  const [slot] = token.split(":", 1);
  if (slot !== undefined && slot !== token) data.offers.given.delete(slot);
}

/** The offer that was renewed last: whoever works is more likely to be alive than others. */
function freshest(moment: Moment): (Offer & { readonly slot: string }) | undefined {
  const { data, now, settling } = moment;
  const { standing, by } = data.offers;
  while (moment.left.offers-- > 0) {
    const slot = standing.members.at(-1);
    const stands = slot === undefined ? undefined : standing.scores.get(slot);
    if (slot === undefined || stands === undefined || stands <= now) return undefined;
    const offer = by.get(slot);
    withdraw(moment, slot);
    // The clock may have gone back, and the function be an older one by now.
    if (offer && stands <= now + settling && offer.version >= data.newest) return { ...offer, slot };
  }
  return undefined;
}
