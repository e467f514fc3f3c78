import type { HeldLease, Renewal } from "../../ledger/ledger.ts";
import { entryOf, isLeaseHeld, type CallContext, hasRecovered } from "./call-context.ts";
import { enterState } from "./key-states.ts";

/**
 * Extends leases.
 *
 * In the recovery window of a new server no key is claimed. A run that is missing from the data, because the server
 * lost the last writes, announces itself by renewing. Its lease then overrides the old data.
 */
export function renew(context: CallContext, leases: readonly HeldLease[]): Renewal {
  const answer = { incarnation: context.data.incarnation, lost: [] as string[], announced: [] as string[] };
  for (const lease of leases) {
    const is = renewOne(context, lease);
    if (is !== "kept") answer[is].push(lease.token);
  }
  return answer;
}

function renewOne(context: CallContext, { key, token }: HeldLease): "lost" | "kept" | "announced" {
  const entry = entryOf(context, key);
  const { holder } = entry;
  const isHolder = isLeaseHeld(context, entry) && holder?.token === token;
  const announces =
    !hasRecovered(context) && entry.announcedIn !== context.data.incarnation && entry.lastSettled !== token;
  if (!isHolder && !announces) return "lost";
  enterState(context, entry, "leased", context.now + context.lease);
  entry.holder = isHolder ? holder : { token, claim: undefined };
  if (!isHolder) {
    // The state from which it started is unknown: any of the wakes may have come later.
    entry.startedRun = { ...entry.startedRun, answeredWakes: undefined };
    // A listing before may be older than what this run writes.
    entry.observedIn = undefined;
  }
  if (!hasRecovered(context)) entry.announcedIn = context.data.incarnation;
  return entry.holder.claim === undefined ? "announced" : "kept";
}
