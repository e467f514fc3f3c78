import type { Holding, Renewal } from "../ledger.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { enter } from "./places.ts";

/**
 * Runs last on.
 *
 * In the first moments on a new server nobody claims, and a run that the server does not know of, because it lost the
 * tail that told of it, announces itself by renewing. Its lease then stands against whatever the old data say.
 */
export function renew(moment: Moment, leases: readonly Holding[]): Renewal {
  const answer = { era: moment.data.era, lost: [] as string[], announced: [] as string[] };
  for (const lease of leases) {
    const is = renewOne(moment, lease);
    if (is !== "kept") answer[is].push(lease.token);
  }
  return answer;
}

function renewOne(moment: Moment, { key, token }: Holding): "lost" | "kept" | "announced" {
  const entry = find(moment, key);
  const { holder } = entry;
  const ours = held(moment, entry) && holder?.token === token;
  const announces = !settled(moment) && entry.announced !== moment.data.era && entry.settled !== token;
  if (!ours && !announces) return "lost";
  enter(moment, entry, "leased", moment.now + moment.lease);
  entry.holder = ours ? holder : { token, claim: undefined };
  if (!ours) {
    // What it started from is not known: all that was heard may have come after it.
    entry.run = { ...entry.run, answers: undefined };
    // What another run saw may be older than what this one writes.
    entry.sawIn = undefined;
  }
  if (!settled(moment)) entry.announced = moment.data.era;
  return entry.holder.claim === undefined ? "announced" : "kept";
}
