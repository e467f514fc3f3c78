import type { Holding, Renewal } from "../ledger.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { enter } from "./places.ts";

/**
 * Extends leases.
 *
 * In the recovery window of a new server no key is claimed. A run that is missing from the data, because the server
 * lost the last writes, announces itself by renewing. Its lease then overrides the old data.
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
    // The state from which it started is unknown: any of the wakes may have come later.
    entry.run = { ...entry.run, answers: undefined };
    // Another run's report may be older than what this run writes.
    entry.sawIn = undefined;
  }
  if (!settled(moment)) entry.announced = moment.data.era;
  return entry.holder.claim === undefined ? "announced" : "kept";
}
