import type { ObjectKey } from "@drover/controller";
import { overdueJobAge, type ClaimAnswer, type LeasedKey, type SlotRequest } from "../../ledger/ledger.ts";
import type { Claim, ClaimRefusal } from "../../work-queue/work-queue.ts";
import { type KeyEntry, dropLists } from "./ledger-data.ts";
import { accountLimit, controllerLimit, limitOf, opensAt } from "./limits.ts";
import { entryOf, isLeaseHeld, type CallContext, hasRecovered } from "./call-context.ts";
import { becomeReady, enterState, waitUntil } from "./key-states.ts";
import { isPaused, takeNextKey } from "./order.ts";

/** The time that a key waits after a worker of an outdated version tried to claim it. */
const outdatedWait = 100;

/** A slot that is to run a key, and how the key comes to it. */
export type RunRequest = Pick<LeasedKey, "slot" | "token" | "askedAt" | "arrival"> &
  Pick<SlotRequest, "version">;

export const leasedKey = (
  key: ObjectKey,
  claim: Claim,
  { slot, token, askedAt, arrival }: RunRequest,
): LeasedKey => ({ key, slot, token, askedAt, claim, arrival });

/** Starts the run of a due key. If it must not start here and now, the key becomes ready or waits again. */
export function startRun(context: CallContext, entry: KeyEntry, request: RunRequest): ClaimAnswer {
  const refused = refusalAtStart(context, entry, request.version);
  return refused
    ? { refused }
    : { claimed: leasedKey(entry.key, grantLease(context, entry, request), request) };
}

/**
 * The next key for a worker that has just settled a run. A key with an unused job comes first: all workers that could
 * take that job are busy.
 */
export function chainNext(context: CallContext, next: SlotRequest): LeasedKey | undefined {
  if (!hasRecovered(context) || context.data.paused.controller !== undefined) return undefined;
  const key = overdueJobKey(context) ?? nextReadyKey(context);
  if (key === undefined) return undefined;
  const entry = entryOf(context, key);
  if (isLeaseHeld(context, entry)) return undefined;
  const answer = startRun(context, entry, chainRequest(next));
  return "claimed" in answer ? answer.claimed : undefined;
}

export const chainRequest = ({ token, version, askedAt = 0 }: SlotRequest): RunRequest => ({
  slot: token,
  token,
  version,
  askedAt,
  arrival: "chained",
});

/** The key of the job that has been unused for longest, if for long enough. */
export function overdueJobKey({ data, now }: CallContext): ObjectKey | undefined {
  const { members, scores } = data.states.dispatched;
  const [oldest] = members;
  return oldest !== undefined && (scores.get(oldest) ?? now) <= now - overdueJobAge ? oldest : undefined;
}

function nextReadyKey(context: CallContext): ObjectKey | undefined {
  if (opensAt(context, controllerLimit) > context.now) return undefined;
  const key = takeNextKey(context);
  if (key !== undefined) context.data.dispatchCount++;
  return key;
}

function refusalAtStart(context: CallContext, entry: KeyEntry, version: number): ClaimRefusal | undefined {
  const { account, ranVersion } = entry;
  if (isPaused(context, entry)) {
    becomeReady(context, entry, context.now);
    return "paused";
  }
  if (account !== undefined && limitOf(context, accountLimit(account)).throttledUntil > context.now) {
    becomeReady(context, entry, context.now);
    return "throttled";
  }
  if (ranVersion > version && context.data.newestVersion >= ranVersion) {
    waitUntil(context, entry, context.now + outdatedWait, "newer function");
    return "outdated";
  }
  return undefined;
}

function grantLease(context: CallContext, entry: KeyEntry, { token, version }: RunRequest): Claim {
  const { fails, reasons, class: wakeClass = "change", uid, replaced, trace } = entry;
  const versions = Object.fromEntries(entry.versions);
  // Not if it may be older than what the previous run wrote: that run must have reported the version that it observed,
  // in this incarnation.
  const leftObject = entry.hasLeftObject
    ? context.data.cachedObjects.get(entry.key)?.cachedObject
    : undefined;
  const cachedObject =
    entry.observedIn === context.data.incarnation ? (entry.cachedObject ?? leftObject) : undefined;
  const cachedLists = cachedListsOf(context, entry);
  const isFirst = entry.isNew && entry.ranAt === 0 && entry.observedIn === context.data.incarnation;
  const claim: Claim = {
    fails,
    reasons,
    class: wakeClass,
    uid,
    replaced,
    trace,
    versions,
    ...(isFirst && { isFirst }),
  };
  enterState(context, entry, "leased", context.now + context.lease);
  entry.holder = { token, claim };
  entry.startedRun = {
    answeredWakes: entry.wakes,
    class: wakeClass,
    uid,
    incarnation: context.data.incarnation,
  };
  entry.ranAt = context.now;
  if (version > 0) entry.ranVersion = version;
  entry.reasons = [];
  entry.class = undefined;
  entry.trace = undefined;
  entry.why = undefined;
  entry.forced = false;
  entry.wokenFor = undefined;
  entry.cachedObject = undefined;
  entry.observedIn = undefined;
  dropLists(entry);
  return { ...claim, cachedObject, cachedLists };
}

/** The lists that the previous run left and the deltas since; undefined if one of them is missing. */
function cachedListsOf(
  { data }: CallContext,
  { key, hasLeftLists, deltas, observedIn }: KeyEntry,
): Claim["cachedLists"] {
  const stored = data.cachedLists.get(key)?.stored;
  if (!hasLeftLists || stored === undefined || deltas === "lost" || observedIn !== data.incarnation)
    return undefined;
  return { stored, deltas: [...deltas].sort() };
}
