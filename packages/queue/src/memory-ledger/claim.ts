import type { ObjectKey } from "@drover/controller";
import type { ClaimAnswer, Taker } from "../ledger.ts";
import type { Refusal } from "../work-queue.ts";
import { expire, type Jitter, leaseTooLong, shortenLeases } from "./backoff.ts";
import type { Entry } from "./ledger-data.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { givenTo, withdraw } from "./offers.ts";
import { take } from "./take.ts";

/**
 * A worker wants to run a key.
 *
 * The same token again gets the same claim, but no copy: a lost reply must not lock the claimer out. A key that the ledger does not
 * know is claimable: the run reads live. A key that a newer version of the function has run is not for an older one, as
 * long as a newer one is alive.
 */
export function claim(
  moment: Moment,
  jitter: Jitter,
  { key, ...taker }: Taker & { readonly key: ObjectKey },
): ClaimAnswer {
  if (givenTo(moment, taker.token)) return { refused: "slot taken" };
  withdraw(moment, taker.token);
  const entry = find(moment, key);
  if (leaseTooLong(moment, entry)) shortenLeases(moment);
  const isHeld = held(moment, entry);
  const { holder } = entry;
  // It has no bell that could be answered: that was when it was claimed first, or there was none when it was handed over.
  if (isHeld && holder?.token === taker.token && holder.claim) return { claimed: holder.claim };
  entry.bell = undefined; // whatever comes of it
  if (isHeld) return { refused: "leased" };
  if (!settled(moment)) return { refused: "settling" };
  if (entry.state === "leased") expire(moment, entry, jitter);
  const refused = refusal(moment, entry);
  return refused ? { refused } : take(moment, entry, taker);
}

/** Why its bell comes to nothing. */
function refusal(moment: Moment, entry: Entry): Refusal | undefined {
  if (entry.state === "waits" && entry.at > moment.now) return "waiting";
  if (entry.state === "parked") return "parked";
  if (entry.state === "paused") return "paused";
  if (entry.state === "ready") return "not its turn";
  if (entry.state === undefined && moment.data.entries.has(entry.key)) return "nothing due";
  return undefined;
}
