import type { ObjectKey } from "@drover/controller";
import type { ClaimAnswer } from "../ledger.ts";
import type { Claim, Refusal } from "../work-queue.ts";
import { expire, type Jitter, leaseTooLong, shortenLeases } from "./backoff.ts";
import type { Entry } from "./ledger-data.ts";
import { accountLimit, limitOf } from "./limits.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { becomeReady, enter, waitUntil } from "./places.ts";
import { isPaused } from "./turns.ts";

/** How soon a key is rung again that came to a worker of an older version than the last one that ran it. */
const outdatedWait = 100;

/**
 * A worker wants to run a key.
 *
 * The same token again gets the same claim: a lost reply must not lock the claimer out. A key that the ledger does not
 * know is claimable: the run reads live. A key that a newer version of the function has run is not for an older one, as
 * long as a newer one is alive.
 */
export function claim(
  moment: Moment,
  jitter: Jitter,
  { key, token, version }: { readonly key: ObjectKey; readonly token: string; readonly version: number },
): ClaimAnswer {
  const entry = find(moment, key);
  if (leaseTooLong(moment, entry)) shortenLeases(moment);
  if (held(moment, entry)) {
    const { holder } = entry;
    return holder?.token === token && holder.claim ? { claimed: holder.claim } : { refused: "leased" };
  }
  if (!settled(moment)) return { refused: "settling" };
  if (entry.state === "leased") expire(moment, entry, jitter);
  const refused = refusal(moment, entry) ?? sentBack(moment, entry, version);
  return refused ? { refused } : { claimed: begin(moment, entry, token, version) };
}

/** Why its bell comes to nothing. */
function refusal(moment: Moment, entry: Entry): Refusal | undefined {
  if (entry.state === "waits" && entry.at > moment.now) return "waiting";
  if (entry.state === "parked") return "parked";
  if (entry.state === "ready") return "not its turn";
  if (entry.state === undefined && moment.data.entries.has(entry.key)) return "nothing due";
  return undefined;
}

/** Why it is due, and must not start here and now; it takes turns again. */
function sentBack(moment: Moment, entry: Entry, version: number): Refusal | undefined {
  const { account, ranBy } = entry;
  if (isPaused(moment, entry.key)) {
    becomeReady(moment, entry, moment.now);
    return "paused";
  }
  if (account !== undefined && limitOf(moment, accountLimit(account)).closedUntil > moment.now) {
    becomeReady(moment, entry, moment.now);
    return "throttled";
  }
  if (ranBy > version && moment.data.newest >= ranBy) {
    waitUntil(moment, entry, moment.now + outdatedWait, "newer function");
    return "outdated";
  }
  return undefined;
}

function begin(moment: Moment, entry: Entry, token: string, version: number): Claim {
  const { fails, reasons, class: wakeClass = "change", uid, replaced, trace } = entry;
  const versions = Object.fromEntries(entry.versions);
  const told: Claim = { fails, reasons, class: wakeClass, uid, replaced, trace, versions };
  enter(moment, entry, "leased", moment.now + moment.lease);
  entry.holder = { token, claim: told };
  entry.run = { answers: entry.wakes, class: wakeClass, uid };
  if (version > 0) entry.ranBy = version;
  entry.reasons = [];
  entry.class = undefined;
  entry.trace = undefined;
  entry.why = undefined;
  entry.forced = false;
  return told;
}
