import { copiesKept, listingBelieved, newsKept } from "../ledger.ts";
import type { Wake, WakeClass } from "../work-queue.ts";
import { type Entry, forgetLists, type LedgerData } from "./ledger-data.ts";
import { find, type Moment } from "./moment.ts";
import { becomeReady, setFails, waitUntil } from "./places.ts";
import { isObjectPaused } from "./turns.ts";
import { isDecimal, isNewer } from "./versions.ts";

/** Reasons kept per key. */
const reasonsKept = 8;
const rank: Readonly<Record<WakeClass, number>> = { change: 0, listing: 1, resync: 2 };

/**
 * Records a wake of a key.
 *
 * A wake makes an idle or parked key ready, and ends a wait for a time. Within a backoff window one wake runs the key
 * early; later ones wait for the window's end. A leased key is not dispatched: settle notices the wake. A ready key
 * moves up if the wake is more urgent. A resync wakes only idle keys. A forced wake ends any wait except a pause, which
 * a wake of the object itself may begin or end. The cached object of a wake is kept for the run that is due. Deltas of
 * other objects are kept if the previous run left lists, or a run in progress may leave some.
 */
export function hear(moment: Moment, wake: Wake, force: boolean): void {
  const entry = find(moment, wake.key);
  if (wake.class === "resync" && !force && entry.state !== undefined) return;
  const moreUrgent = remember(moment, entry, wake);
  if (isBeforeAnyRun(moment, entry, wake)) entry.sawIn = moment.data.era;
  notePause(moment, entry, wake);
  keepCopy(moment, entry, wake, force);
  if (force) entry.news = "lost";
  keepNews(moment, entry, wake);
  switch (entry.state) {
    case "leased":
      entry.forced ||= force;
      return;
    case "rung":
      if (isObjectPaused(moment, entry)) becomeReady(moment, entry, entry.at);
      return;
    case "ready":
      if (moreUrgent || isObjectPaused(moment, entry)) becomeReady(moment, entry, entry.at);
      return;
    case "paused":
      if (!isObjectPaused(moment, entry)) becomeReady(moment, entry, moment.now);
      return;
    case "waits":
    case "parked":
    case undefined:
      pierce(moment, entry, force);
  }
}

function pierce(moment: Moment, entry: Entry, force: boolean): void {
  const inWindow = entry.notBefore > moment.now && !force;
  if (inWindow && entry.pierced) {
    entry.copy = undefined;
    if (entry.state !== "waits" || entry.at > entry.notBefore)
      waitUntil(moment, entry, entry.notBefore, "backoff");
    return;
  }
  if (inWindow) entry.pierced = true;
  becomeReady(moment, entry, moment.now);
}

/** Returns true if the key is more urgent than before. */
function remember(moment: Moment, entry: Entry, wake: Wake): boolean {
  if (isNewer(wake.resourceVersion, entry.versions.get(wake.kind))) {
    entry.versions.set(wake.kind, wake.resourceVersion);
    if (wake.uid !== undefined) forgetCopies(entry);
    if (wake.uid !== undefined && wake.uid !== entry.uid) startAfresh(moment, entry, wake.uid);
  }
  if (!entry.reasons.includes(wake.reason) && entry.reasons.length < reasonsKept) {
    entry.reasons.push(wake.reason);
  }
  entry.trace = wake.trace ?? entry.trace;
  entry.wakes += 1;
  const moreUrgent = entry.class === undefined || rank[wake.class] < rank[entry.class];
  if (moreUrgent) entry.class = wake.class;
  return moreUrgent;
}

/**
 * Only the newest known version begins a pause, but any version ends it, because the run reads the annotation again.
 */
function notePause({ now }: Moment, entry: Entry, { paused, kind, resourceVersion }: Wake): void {
  if (paused === false) entry.pausedSince = undefined;
  else if (paused === true && entry.versions.get(kind) === resourceVersion) entry.pausedSince ??= now;
}

/**
 * True if a listing after `newestAfter` shows everything that runs have written: the data contain no run of this
 * object, and any forgotten run (with other data, or of a key that was gone) ended before.
 */
function isBeforeAnyRun({ data, now }: Moment, entry: Entry, { newestAfter }: Wake): boolean {
  if (newestAfter?.era !== data.era || now - newestAfter.at >= listingBelieved) return false;
  return entry.ranAt === 0 && (entry.announced ?? entry.settled) === undefined;
}

/**
 * Keeps a cached object of the newest known version only. Drops it for a forced key, and after a wake of the object
 * without a cached object or with an older version: the object may be gone (a listing reports that without a newer
 * version), or etcd may have been restored.
 */
function keepCopy({ data }: Moment, entry: Entry, wake: Wake, force: boolean): void {
  const { kind, resourceVersion, uid, copy } = wake;
  const isNewest = entry.versions.get(kind) === resourceVersion && isDecimal(resourceVersion);
  const brought = isNewest ? copy : undefined;
  if (force || (uid !== undefined && brought === undefined)) forgetCopies(entry);
  else if (uid !== undefined && uid === entry.uid && fits(data, Buffer.byteLength(brought ?? "")))
    entry.copy = brought;
}

const fits = ({ states }: LedgerData, size: number): boolean =>
  states.ready.members.length * size < copiesKept;

/** Keeps a delta of another kind's object, if the previous run left lists or a run in progress may leave some. */
function keepNews({ data }: Moment, entry: Entry, { news }: Wake): void {
  if (entry.listed && !data.lists.has(entry.key)) forgetLists(entry);
  if (news === undefined || entry.news === "lost") return;
  if (!entry.listed && entry.state !== "leased") return;
  const all = new Set(entry.news).add(news);
  const size = [...all].reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  const isTooMuch = size > newsKept || !fits(data, size);
  entry.news = news === "" || isTooMuch ? "lost" : all;
}

function forgetCopies(entry: Entry): void {
  entry.copy = undefined;
  entry.left = false;
}

/** Another object has the key now: failures, backoff and errors belong to its predecessor. */
function startAfresh(moment: Moment, entry: Entry, uid: string): void {
  entry.replaced ??= entry.uid; // the one that a run may have seen
  entry.uid = uid;
  setFails(moment, entry, 0);
  entry.conflicts = 0;
  entry.notBefore = 0;
  entry.pierced = false;
  entry.error = undefined;
}
