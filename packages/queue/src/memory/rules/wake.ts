import { maxCachedObjectBytes, maxListingAge, maxDeltaBytes } from "../../cache/cache-bounds.ts";
import type { Milliseconds } from "@drover/controller";
import type { Wake, WakeClass } from "../../work-queue/work-queue.ts";
import { type KeyEntry, dropLists, isSeen, type LedgerData } from "./ledger-data.ts";
import { entryOf, type CallContext } from "./call-context.ts";
import { becomeDue, becomeReady, setFails, waitUntil } from "./key-states.ts";
import { isObjectPaused } from "./order.ts";
import { isDecimal, isNewer } from "./versions.ts";

/** Reasons kept per key. */
const maxReasons = 8;
const urgency: Readonly<Record<WakeClass, number>> = { change: 0, listing: 1, resync: 2 };

/**
 * Records a wake of a key.
 *
 * A wake makes an idle or parked key ready, at once or `after` a time, and ends a longer wait. Within a backoff window one
 * wake runs the key early; later ones wait for the window's end. A leased key is not dispatched: settle notices the wake. A ready key
 * moves up if the wake is more urgent. A resync wakes only idle keys. A forced wake ends any wait except a pause, which
 * a wake of the object itself may begin or end. The cached object of a wake is kept for the run that is due. Deltas of
 * other objects are kept if the previous run left lists, or a run in progress may leave some.
 */
export function recordWake(context: CallContext, wake: Wake, force: boolean): void {
  const entry = entryOf(context, wake.key);
  if (!force && isOfRunBefore(context, entry, wake)) {
    noteVersion(entry, wake);
    return;
  }
  if (wake.class === "resync" && !force && entry.state !== undefined) return;
  const moreUrgent = mergeWake(context, entry, wake);
  if (isBeforeAnyRun(context, entry, wake)) {
    if (entry.observedIn !== context.data.incarnation) entry.isNew = false; // a run since may be lost with other data
    entry.observedIn = context.data.incarnation;
    if (wake.created && wake.uid !== undefined && wake.uid === entry.uid) entry.isNew = true;
  }
  notePause(context, entry, wake);
  keepCachedObject(context, entry, wake, force);
  if (force) {
    entry.deltas = "lost";
    entry.isNew = false;
  }
  keepDelta(context, entry, wake);
  switch (entry.state) {
    case "leased":
      entry.forced ||= force;
      entry.wokenFor = Math.min(entry.wokenFor ?? Infinity, context.now + (wake.after ?? 0));
      return;
    case "dispatched":
      if (isObjectPaused(context, entry)) becomeReady(context, entry, entry.at);
      return;
    case "ready":
      if (moreUrgent || isObjectPaused(context, entry)) becomeReady(context, entry, entry.at);
      return;
    case "paused":
      if (!isObjectPaused(context, entry)) becomeReady(context, entry, context.now);
      return;
    case "waits":
    case "parked":
    case undefined:
      wakeIdleOrWaiting(context, entry, force, force ? 0 : (wake.after ?? 0));
  }
}

/** True if the run before has left the changed object as it is now. Then the change causes no run. */
function isOfRunBefore({ data }: CallContext, entry: KeyEntry, { delta, uid }: Wake): boolean {
  if (delta === undefined || uid !== undefined || entry.deltas === "lost") return false;
  if (!entry.hasLeftLists || entry.observedIn !== data.incarnation) return false;
  return isSeen(data.cachedLists.get(entry.key)?.seen, delta);
}

/** Returns true if the version is newer than all of its kind before. */
function noteVersion({ versions }: KeyEntry, { kind, resourceVersion }: Wake): boolean {
  const isNews = isNewer(resourceVersion, versions.get(kind));
  if (isNews) versions.set(kind, resourceVersion);
  return isNews;
}

function wakeIdleOrWaiting(context: CallContext, entry: KeyEntry, force: boolean, after: Milliseconds): void {
  const inWindow = entry.notBefore > context.now && !force;
  if (inWindow && entry.earlyRunUsed) {
    entry.cachedObject = undefined;
    if (entry.state !== "waits" || entry.at > entry.notBefore)
      waitUntil(context, entry, entry.notBefore, "backoff");
    return;
  }
  if (inWindow) entry.earlyRunUsed = true;
  const at = context.now + after;
  if (entry.state === "waits" && entry.at <= at && at > context.now) entry.cachedObject = undefined;
  else becomeDue(context, entry, at);
}

/** Returns true if the key is more urgent than before. */
function mergeWake(context: CallContext, entry: KeyEntry, wake: Wake): boolean {
  if (wake.uid !== undefined && wake.uid !== entry.uid) entry.isNew = false; // also an older one: etcd may have been restored
  if (noteVersion(entry, wake)) {
    if (wake.uid !== undefined) dropCachedObjects(entry);
    if (wake.uid !== undefined && wake.uid !== entry.uid) resetForNewObject(context, entry, wake.uid);
  }
  if (!entry.reasons.includes(wake.reason) && entry.reasons.length < maxReasons) {
    entry.reasons.push(wake.reason);
  }
  entry.trace = wake.trace ?? entry.trace;
  entry.wakes += 1;
  const moreUrgent = entry.class === undefined || urgency[wake.class] < urgency[entry.class];
  if (moreUrgent) entry.class = wake.class;
  return moreUrgent;
}

/**
 * Only the newest known version begins a pause, but any version ends it, because the run reads the annotation again.
 */
function notePause({ now }: CallContext, entry: KeyEntry, { paused, kind, resourceVersion }: Wake): void {
  if (paused === false) entry.pausedSince = undefined;
  else if (paused === true && entry.versions.get(kind) === resourceVersion) entry.pausedSince ??= now;
}

/**
 * True if a listing after `newestAfter` shows everything that runs have written: the data contain no run of this
 * object, and any forgotten run (with other data, or of a key that was gone) ended before.
 */
function isBeforeAnyRun({ data, now }: CallContext, entry: KeyEntry, { newestAfter }: Wake): boolean {
  if (newestAfter?.incarnation !== data.incarnation || now - newestAfter.at >= maxListingAge) return false;
  return entry.ranAt === 0 && (entry.announcedIn ?? entry.lastSettled) === undefined;
}

/**
 * Keeps a cached object of the newest known version only. Drops it for a forced key, and after a wake of the object
 * without a cached object or with an older version: the object may be gone (a listing reports that without a newer
 * version), or etcd may have been restored.
 */
function keepCachedObject({ data }: CallContext, entry: KeyEntry, wake: Wake, force: boolean): void {
  const { kind, resourceVersion, uid, cachedObject: cachedObject } = wake;
  const isNewest = entry.versions.get(kind) === resourceVersion && isDecimal(resourceVersion);
  const fromWake = isNewest ? cachedObject : undefined;
  if (force || (uid !== undefined && fromWake === undefined)) dropCachedObjects(entry);
  else if (uid !== undefined && uid === entry.uid && fits(data, Buffer.byteLength(fromWake ?? "")))
    entry.cachedObject = fromWake;
}

const fits = ({ states }: LedgerData, size: number): boolean =>
  states.ready.members.length * size < maxCachedObjectBytes;

/** Keeps a delta of another kind's object, if the previous run left lists or a run in progress may leave some. */
function keepDelta({ data }: CallContext, entry: KeyEntry, { delta, uid }: Wake): void {
  if (entry.hasLeftLists && !data.cachedLists.has(entry.key)) dropLists(entry);
  if (delta === undefined || entry.deltas === "lost") return;
  if (!entry.hasLeftLists && entry.state !== "leased") return;
  const all = new Set(entry.deltas).add(delta);
  const size = [...all].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  const isTooMuch = size > maxDeltaBytes || !fits(data, size);
  entry.deltas = delta === "" || uid !== undefined || isTooMuch ? "lost" : all;
}

function dropCachedObjects(entry: KeyEntry): void {
  entry.cachedObject = undefined;
  entry.hasLeftObject = false;
}

/** Another object has the key now: failures, backoff and errors belong to its predecessor. */
function resetForNewObject(context: CallContext, entry: KeyEntry, uid: string): void {
  entry.replaced ??= entry.uid; // the one that a run may have seen
  entry.uid = uid;
  setFails(context, entry, 0);
  entry.conflicts = 0;
  entry.notBefore = 0;
  entry.earlyRunUsed = false;
  entry.error = undefined;
}
