import type { Given, Offers } from "../ledger.ts";
import type { Entry, Offer } from "./ledger-data.ts";
import { accountLimit, limitOf } from "./limits.ts";
import { find, held, type Moment } from "./moment.ts";
import { put, take as takeOut, upTo } from "./sorted-set.ts";
import { take } from "./take.ts";
import { isPaused } from "./turns.ts";

/*
 * Free slots that workers offer, each under the token of the run that may come of it, and what was given to them.
 *
 * An offer stands for `settling` ms, and for as long again whenever its worker says so: of a worker that died, none stands
 * for longer. It stands only for the newest function that is here.
 */

/** Offers whose time is over, forgotten by one call. */
const forgottenAtOnce = 100;

/** A worker says which of its slots are free, or are not any more; answers what they were given. */
export function offer(moment: Moment, { tokens, ...by }: Offers, stands: boolean): readonly Given[] {
  const given: Given[] = [];
  for (const token of tokens) {
    const mine = givenTo(moment, token);
    if (mine) given.push(mine);
    else if (stands) stand(moment, token, by);
    else withdraw(moment, token);
  }
  const { standing } = moment.data.offers;
  for (const token of upTo(standing, moment.now, forgottenAtOnce)) withdraw(moment, token);
  return given;
}

export function stand(
  { data, now, settling }: Moment,
  token: string,
  { worker, version, askedAt }: Offer,
): void {
  put(data.offers.standing, token, now + settling);
  data.offers.by.set(token, { worker, version, askedAt });
}

export function withdraw({ data }: Moment, token: string): void {
  takeOut(data.offers.standing, token);
  data.offers.by.delete(token);
}

/** What was given to a token, as far as it still holds it. */
export function givenTo(moment: Moment, token: string): Given | undefined {
  const { given } = moment.data.offers;
  const it = given.get(token);
  const entry = it && find(moment, it.key);
  const { holder } = entry ?? {};
  if (it && entry && held(moment, entry) && holder?.token === token && holder.claim)
    return { token, ...it, claim: holder.claim };
  given.delete(token);
  return undefined;
}

/** Gives a key whose turn it is to who offers a slot, if anybody does. */
export function give(moment: Moment, entry: Entry): boolean {
  const { data, tell } = moment;
  const { account } = entry;
  if (isPaused(moment, entry.key)) return false;
  if (account !== undefined && limitOf(moment, accountLimit(account)).closedUntil > moment.now) return false;
  const free = freshest(moment);
  if (!free) return false;
  const { token, worker, version, askedAt } = free;
  const answer = take(moment, entry, { token, version });
  if ("refused" in answer) return true;
  data.bells += 1;
  data.offers.given.set(token, { key: entry.key, askedAt });
  tell(worker, { token, askedAt, key: entry.key, claim: answer.claimed });
  return true;
}

/** The offer that was renewed last: whoever works is more likely to be alive than others. */
function freshest(moment: Moment): (Offer & { readonly token: string }) | undefined {
  const { data, now, settling } = moment;
  const { standing, by } = data.offers;
  for (;;) {
    const token = standing.members.at(-1);
    const stands = token === undefined ? undefined : standing.scores.get(token);
    if (token === undefined || stands === undefined || stands <= now) return undefined;
    const offer = by.get(token);
    withdraw(moment, token);
    // The clock may have gone back, and the function be an older one by now.
    if (offer && stands <= now + settling && offer.version >= data.newest) return { ...offer, token };
  }
}
