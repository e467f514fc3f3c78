import type { ObjectKey } from "@drover/controller";
import type { ClaimAnswer, Taker } from "../ledger.ts";
import type { Refusal } from "../work-queue.ts";
import { expire, type Jitter, leaseTooLong, shortenLeases } from "./backoff.ts";
import type { Entry } from "./ledger-data.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { givenTo, withdraw } from "./offers.ts";
import { take } from "./take.ts";

/**
 * Takes a key under a lease.
 *
 * A repeated token gets the same claim, without a cached object and lists: a lost reply must not lock the claimer out.
 * A key without an entry can be claimed: the run reads its object live. A key that a newer version of the function has
 * run is refused to an older one while a worker of a newer one is registered.
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
  // The key has no unused job: the first claim used it, or the key was chained and had none.
  if (isHeld && holder?.token === taker.token && holder.claim) return { claimed: holder.claim };
  entry.bell = undefined; // used, whatever the result
  if (isHeld) return { refused: "leased" };
  if (!settled(moment)) return { refused: "settling" };
  if (entry.state === "leased") expire(moment, entry, jitter);
  const refused = refusal(moment, entry);
  return refused ? { refused } : take(moment, entry, taker);
}

/** Why the key cannot be claimed in its present state; undefined if it can. */
function refusal(moment: Moment, entry: Entry): Refusal | undefined {
  if (entry.state === "waits" && entry.at > moment.now) return "waiting";
  if (entry.state === "parked") return "parked";
  if (entry.state === "paused") return "paused";
  if (entry.state === "ready") return "not its turn";
  if (entry.state === undefined && moment.data.entries.has(entry.key)) return "nothing due";
  return undefined;
}
