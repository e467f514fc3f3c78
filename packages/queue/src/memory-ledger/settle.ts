import type { Milliseconds, ObjectKey } from "@drover/controller";
import {
  answerKept,
  errorKept,
  leftCopyKept,
  type Handed,
  paceUnit,
  type RunRecord,
  runsKept,
  type SettleAnswer,
  type Taker,
} from "../ledger.ts";
import type { Sight, Verdict, WakeClass } from "../work-queue.ts";
import { fail, heardDuringRun, type Jitter, pierces, spread } from "./backoff.ts";
import { blankEntry, type Entry, forgetLists } from "./ledger-data.ts";
import { accountLimit, closeUntil } from "./limits.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { forgetGiven, stand } from "./offers.ts";
import { becomeReady, enter, leave, setFails, waitUntil } from "./places.ts";
import { makeDueReady, ringReady } from "./ring.ts";
import { handOver } from "./take.ts";
import { isDecimal, isNewer } from "./versions.ts";

/** Conflicts in a row that are retried soon; the next one counts as a failure. */
const conflictsForgiven = 8;
const firstConflictWait: Milliseconds = 20;

/** A run that ends, with its outcome. */
export interface Ending {
  readonly key: ObjectKey;
  readonly token: string;
  readonly verdict: Verdict;
  readonly run: RunRecord | undefined;
  readonly next: Taker | undefined;
}

/**
 * Ends a run with its outcome. Only the token that holds the key may do so. A repeated call gets the same answer and
 * changes nothing. In the recovery window of a new server, a run that is missing from the data may end, once, just as
 * it may announce itself.
 */
export function settle(moment: Moment, jitter: Jitter, ending: Ending): SettleAnswer {
  const { key, token } = ending;
  const entry = find(moment, key);
  const unknown = entry.holder?.token !== token;
  if (unknown && entry.settled === token) {
    const handed = handedBefore(moment, entry, ending.next);
    return { kind: "settled", dueIn: dueIn(moment, entry), bells: [], handed };
  }
  if (unknown && (settled(moment) || entry.announced === moment.data.era)) return { kind: "stale" };
  // If the run is missing from the data, wakes may be, too.
  const heard = unknown || heardDuringRun(entry);
  conclude(moment, jitter, entry, { ...ending, heard });
  remember(moment, ending);
  makeDueReady(moment);
  const handed = ending.next && handOver(moment, ending.next);
  find(moment, key).handed = handed?.key;
  if (ending.next && !handed) offerSlot(moment, ending.next);
  return { kind: "settled", dueIn: dueIn(moment, entry), bells: ringReady(moment), handed };
}

/** Advertises the slot, since no key is due. */
function offerSlot(moment: Moment, { token, version, offeredBy }: Taker): void {
  if (offeredBy) stand(moment, token, { ...offeredBy, version });
}

/**
 * The key that the first answer chained, as that answer may have been lost; undefined if its run no longer holds it.
 */
function handedBefore(moment: Moment, { handed: key }: Entry, next: Taker | undefined): Handed | undefined {
  if (key === undefined) return undefined;
  const entry = find(moment, key);
  const { holder } = entry;
  return held(moment, entry) && holder?.token === next?.token && holder?.claim
    ? { key, claim: holder.claim }
    : undefined;
}

/** Applies an outcome to its key. The flag is true if the key may have been woken since the run began. */
function conclude(
  moment: Moment,
  jitter: Jitter,
  entry: Entry,
  { token, verdict, heard }: Ending & { readonly heard: boolean },
): void {
  const { run, forced, holder } = entry;
  const again = heard || forced || verdict.kind === "interrupted";
  leave(moment, entry);
  moment.data.entries.set(entry.key, entry);
  entry.run = {};
  entry.announced = undefined;
  entry.forced = false;
  forgetGiven(moment, token);
  entry.settled = token;
  // True if no wake since the run began can be lost.
  const ranHere = holder?.token === token && run.era === moment.data.era;
  learn(moment, entry, verdict, ranHere);
  if (!entry.listed) forgetLists(entry);
  forgive(moment, entry, verdict);
  if ("account" in verdict && verdict.account) entry.account = verdict.account;
  const error = "error" in verdict ? verdict.error : "";
  if (error !== "") entry.error = error.slice(0, errorKept).toWellFormed();
  if (verdict.kind === "paused") notePause(moment, entry, verdict.saw);
  if (verdict.kind === "throttled") {
    closeUntil(moment, accountLimit(verdict.account), moment.now + Math.ceil(verdict.after));
  }
  // The rest of the outcome is about an object that no longer exists.
  if (again && entry.uid !== run.uid) becomeReady(moment, entry, moment.now);
  else follow(moment, jitter, entry, { verdict, heard, forced, again, ran: run.class });
}

/**
 * Records the version that the run saw: no older cached object is given from now on. Keeps the object and the lists
 * that the run leaves.
 */
function learn({ data, age }: Moment, entry: Entry, { kind, saw }: Verdict, ranHere: boolean): void {
  entry.left = false;
  entry.listed = false;
  if (saw === undefined || saw.uid !== entry.uid) return;
  if (isNewer(saw.resourceVersion, entry.versions.get(saw.kind))) {
    entry.versions.set(saw.kind, saw.resourceVersion);
    entry.copy = undefined;
  }
  entry.sawIn = data.era;
  if (!(kind === "done" || kind === "wait")) return;
  const until = age + leftCopyKept;
  if (saw.lists !== undefined && ranHere) {
    data.lists.delete(entry.key);
    data.lists.set(entry.key, { left: saw.lists, until });
    entry.listed = true;
  }
  const isNewest = entry.versions.get(saw.kind) === saw.resourceVersion && isDecimal(saw.resourceVersion);
  if (saw.copy === undefined || !isNewest) return;
  data.copies.delete(entry.key);
  data.copies.set(entry.key, { copy: saw.copy, until });
  entry.left = true;
}

/** Marks the key as paused, unless the object has changed since the run read it. */
function notePause({ now }: Moment, entry: Entry, saw: Sight | undefined): void {
  if (saw === undefined || (entry.uid !== undefined && entry.uid !== saw.uid)) return;
  const known = entry.versions.get(saw.kind);
  if (known === saw.resourceVersion || isNewer(saw.resourceVersion, known)) entry.pausedSince = now;
}

/** Clears what the outcome makes obsolete: failures, conflicts, the backoff window, the error. */
function forgive(moment: Moment, entry: Entry, { kind }: Verdict): void {
  if (kind !== "conflict") entry.conflicts = 0;
  if (kind !== "done" && kind !== "gone") return;
  setFails(moment, entry, 0);
  entry.notBefore = 0;
  entry.pierced = false;
  entry.error = undefined;
  entry.replaced = undefined;
}

interface Consequences {
  readonly verdict: Verdict;
  readonly heard: boolean;
  readonly forced: boolean;
  /** The key is due again at once whatever the outcome, except after a failure. */
  readonly again: boolean;
  readonly ran: WakeClass | undefined;
}

/** Moves the key to its next state. */
function follow(moment: Moment, jitter: Jitter, entry: Entry, what: Consequences): void {
  const { verdict, again, ran } = what;
  switch (verdict.kind) {
    case "retry":
      fail(moment, entry, jitter, verdict.after === undefined ? undefined : Math.ceil(verdict.after));
      backOff(moment, entry, what);
      return;
    case "conflict":
      conflict(moment, jitter, entry, what);
      return;
    case "throttled":
      runAgain(moment, entry, ran);
      return;
    case "done":
    case "wait":
      if (again) runAgain(moment, entry, ran);
      else if (verdict.after !== undefined) lookAgain(moment, entry, verdict, ran);
      return;
    case "terminal":
      if (again) runAgain(moment, entry, ran);
      else park(moment, entry);
      return;
    case "paused":
      runAgain(moment, entry, ran);
      return;
    case "gone":
      if (again) runAgain(moment, entry, ran);
      else forget(moment, entry);
      return;
    case "interrupted":
      runAgain(moment, entry, ran);
  }
}

function runAgain(moment: Moment, entry: Entry, ran: WakeClass | undefined): void {
  entry.class ??= ran;
  becomeReady(moment, entry, moment.now);
}

/** The next run after `done` only checks the object again, so it is as urgent as a resync. */
function lookAgain(
  moment: Moment,
  entry: Entry,
  { kind, after = 0 }: { readonly kind: "done" | "wait"; readonly after?: Milliseconds },
  ran: WakeClass | undefined,
): void {
  entry.class = kind === "done" ? "resync" : ran;
  waitUntil(moment, entry, moment.now + Math.ceil(after), kind === "done" ? "again" : "wait");
}

/** Waits for the end of the window. One wake per window runs the key early; a wake during the run counts, too. */
function backOff(moment: Moment, entry: Entry, { heard, forced, ran }: Consequences): void {
  const { now, data } = moment;
  const { attempts } = data.settings;
  entry.class ??= ran;
  if (forced || pierces(entry, heard)) {
    becomeReady(moment, entry, now);
  } else if (attempts !== undefined && entry.fails >= attempts && !heard) {
    entry.class = undefined;
    entry.why = "backoff";
    park(moment, entry);
  } else {
    waitUntil(moment, entry, entry.notBefore, "backoff");
  }
}

/** Retries almost at once. Each conflict in a row doubles the wait, and too many count as a failure. */
function conflict(moment: Moment, jitter: Jitter, entry: Entry, what: Consequences): void {
  entry.conflicts += 1;
  if (entry.conflicts > conflictsForgiven) {
    entry.conflicts = 0;
    fail(moment, entry, jitter);
    backOff(moment, entry, what);
  } else {
    entry.class ??= what.ran;
    const wait = spread(firstConflictWait * 2 ** (entry.conflicts - 1), jitter);
    waitUntil(moment, entry, what.again ? moment.now : moment.now + wait, "conflict");
  }
}

function park(moment: Moment, entry: Entry): void {
  entry.notBefore = 0;
  entry.pierced = false;
  enter(moment, entry, "parked", moment.now);
}

/** Keeps only the last answer, the number of an unused job and the history, for a while. */
function forget(moment: Moment, entry: Entry): void {
  const { data, age } = moment;
  data.entries.set(entry.key, {
    ...blankEntry(entry.key),
    settled: entry.settled,
    bell: entry.bell,
  });
  data.leaving.delete(entry.key);
  data.leaving.set(entry.key, age + answerKept);
}

function remember({ data, now }: Moment, { key, run }: Ending): void {
  if (!run) return;
  const past = { at: new Date(now).toISOString(), ...run };
  data.history.set(key, [past, ...(data.history.get(key) ?? [])].slice(0, runsKept));
  const took = run.duration * paceUnit;
  data.pace = data.pace === undefined ? took : Math.floor(data.pace + (took - data.pace) / 8 + 0.5);
}

function dueIn(moment: Moment, entry: Entry): Milliseconds | undefined {
  return entry.state === "waits" ? Math.max(0, Math.ceil(entry.at - moment.now)) : undefined;
}
