import type { ObjectKey } from "@drover/controller";
import type { ClaimAnswer, SlotRequest } from "../../ledger/ledger.ts";
import type { ClaimRefusal } from "../../work-queue/work-queue.ts";
import { expireLease, type Jitter, isLeaseTooLong, clampLeases } from "./backoff.ts";
import type { KeyEntry } from "./ledger-data.ts";
import { entryOf, isLeaseHeld, type CallContext, hasRecovered } from "./call-context.ts";
import { assignmentOf, retract } from "./advertised-slots.ts";
import { leasedKey, startRun } from "./start-run.ts";

/**
 * Takes a key under a lease.
 *
 * A repeated token gets the same claim, without a cached object and lists: a lost reply must not lock the claimer out.
 * A key without an entry can be claimed: the run reads its object live. A key that a newer version of the function has
 * run is refused to an older one while a worker of a newer one is registered.
 */
export function claim(
  context: CallContext,
  jitter: Jitter,
  { key, ...asked }: SlotRequest & { readonly key: ObjectKey },
): ClaimAnswer {
  if (assignmentOf(context, asked.token)) return { refused: "slot taken" };
  retract(context, asked.token);
  const request = { askedAt: 0, ...asked, slot: asked.token, arrival: "dequeued" } as const;
  const entry = entryOf(context, key);
  if (isLeaseTooLong(context, entry)) clampLeases(context);
  const isHeld = isLeaseHeld(context, entry);
  const { holder } = entry;
  // The key has no unused job: the first claim used it, or the key was chained and had none.
  if (isHeld && holder?.token === request.token && holder.claim)
    return { claimed: leasedKey(key, holder.claim, request) };
  entry.jobNumber = undefined; // used, whatever the result
  if (isHeld) return { refused: "leased" };
  if (!hasRecovered(context)) return { refused: "recovering" };
  if (entry.state === "leased") expireLease(context, entry, jitter);
  const refused = refusalByState(context, entry);
  return refused ? { refused } : startRun(context, entry, request);
}

/** Why the key cannot be claimed in its present state; undefined if it can. */
function refusalByState(context: CallContext, entry: KeyEntry): ClaimRefusal | undefined {
  if (entry.state === "waits" && entry.at > context.now) return "waiting";
  if (entry.state === "parked") return "parked";
  if (entry.state === "paused") return "paused";
  if (entry.state === "ready") return "not its turn";
  if (entry.state === undefined && context.data.entries.has(entry.key)) return "nothing due";
  return undefined;
}
