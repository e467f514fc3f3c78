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
 * Something was heard of a key.
 *
 * A wake makes an idle or parked key ready, pierces a wait, and pierces a backoff window once; later ones wait for its
 * end. A leased key is not rung: settle sees that more was heard. A waiting turn moves up when the wake is more urgent.
 * A resync pierces nothing and wakes only idle keys; force pierces everything but a pause, which a wake of
 * the object itself may begin or end. The copy of an object is kept
 * for the run that is due, and so are news of others, where the run before has left lists, or the one under way may do so.
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

/** Answers whether the key is more urgent than before. */
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

/** A pause is taken from the newest known version only; its end from any, because the run reads the annotation again. */
function notePause({ now }: Moment, entry: Entry, { paused, kind, resourceVersion }: Wake): void {
  if (paused === false) entry.pausedSince = undefined;
  else if (paused === true && entry.versions.get(kind) === resourceVersion) entry.pausedSince ??= now;
}

/**
 * No run of the object can have written what a listing since does not show: neither one that was forgotten, with other data
 * or because the key was gone, nor one that these data know of.
 */
function isBeforeAnyRun({ data, now }: Moment, entry: Entry, { newestAfter }: Wake): boolean {
  if (newestAfter?.era !== data.era || now - newestAfter.at >= listingBelieved) return false;
  return entry.ranAt === 0 && (entry.announced ?? entry.settled) === undefined;
}

/**
 * Only of the newest version that is known. What somebody wants looked at now is looked at, and so is what was told of
 * without a copy or by an older version: it may be gone, by a listing that names no newer one, and etcd restored.
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

/** Of another kind's objects, for who has left lists of them or may still do so. */
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

/** Another object under the same key: failures, backoff and errors were its predecessor's. */
function startAfresh(moment: Moment, entry: Entry, uid: string): void {
  entry.replaced ??= entry.uid; // the one that a run may have seen
  entry.uid = uid;
  setFails(moment, entry, 0);
  entry.conflicts = 0;
  entry.notBefore = 0;
  entry.pierced = false;
  entry.error = undefined;
}
