import type { Milliseconds, ObjectKey } from "@drover/controller";
import {
  goneKeyTtl,
  maxErrorLength,
  runTimeUnit,
  type RunReport,
  maxPastRuns,
  type SettleAnswer,
  type LeasedKey,
  type SlotRequest,
} from "../../ledger/ledger.ts";
import { cachedObjectTtl, maxSeenBytes } from "../../cache/cache-bounds.ts";
import type { ObservedVersion, RunOutcome, WakeClass } from "../../work-queue/work-queue.ts";
import { countFailure, wokenDuringRun, type Jitter, useEarlyRun, withJitter } from "./backoff.ts";
import { blankEntry, type KeyEntry, dropLists, isSeen } from "./ledger-data.ts";
import { accountLimit, throttleUntil } from "./limits.ts";
import { entryOf, isLeaseHeld, type CallContext, hasRecovered } from "./call-context.ts";
import { dropAssignment, advertise } from "./advertised-slots.ts";
import { becomeDue, becomeReady, enterState, leaveState, setFails, waitUntil } from "./key-states.ts";
import { makeDueReady, dispatchReady } from "./dispatch.ts";
import { chainNext, chainRequest, leasedKey } from "./start-run.ts";
import { isDecimal, isNewer } from "./versions.ts";

/** Conflicts in a row that are retried soon; the next one counts as a failure. */
const maxFreeConflicts = 8;
const firstConflictWait: Milliseconds = 20;

/** A run that ends, with its outcome. */
export interface SettleCall {
  readonly key: ObjectKey;
  readonly token: string;
  readonly outcome: RunOutcome;
  readonly report: RunReport | undefined;
  readonly next: SlotRequest | undefined;
}

/**
 * Ends a run with its outcome. Only the token that holds the key may do so. A repeated call gets the same answer and
 * changes nothing. In the recovery window of a new server, a run that is missing from the data may end, once, just as
 * it may announce itself.
 */
export function settle(context: CallContext, jitter: Jitter, call: SettleCall): SettleAnswer {
  const { key, token } = call;
  const entry = entryOf(context, key);
  const unknown = entry.holder?.token !== token;
  if (unknown && entry.lastSettled === token) {
    const chained = chainedBefore(context, entry, call.next);
    return { kind: "settled", dueIn: dueIn(context, entry), jobs: [], chained };
  }
  if (unknown && (hasRecovered(context) || entry.announcedIn === context.data.incarnation))
    return { kind: "stale" };
  // If the run is missing from the data, wakes may be, too.
  const sawAll = !unknown && sawAllWakes(context, entry, call.outcome);
  const woken = unknown || (wokenDuringRun(entry) && !sawAll);
  applyOutcome(context, jitter, entry, { ...call, woken, sawAll });
  recordRun(context, call);
  makeDueReady(context);
  const chained = call.next && chainNext(context, call.next);
  entryOf(context, key).chained = chained?.key;
  if (call.next && !chained) advertiseSlot(context, call.next);
  return { kind: "settled", dueIn: dueIn(context, entry), jobs: dispatchReady(context), chained };
}

/** Advertises the slot, since no key is due. */
function advertiseSlot(context: CallContext, { token, version, askedAt = 0, worker }: SlotRequest): void {
  if (worker !== undefined) advertise(context, token, { worker, askedAt, version });
}

/**
 * The key that the first answer chained, as that answer may have been lost; undefined if its run no longer holds it.
 */
function chainedBefore(
  context: CallContext,
  { chained: key }: KeyEntry,
  next: SlotRequest | undefined,
): LeasedKey | undefined {
  if (key === undefined) return undefined;
  const entry = entryOf(context, key);
  const { holder } = entry;
  return next && isLeaseHeld(context, entry) && holder?.token === next.token && holder.claim
    ? leasedKey(key, holder.claim, chainRequest(next))
    : undefined;
}

/** Applies an outcome to its key. The flag is true if the key may have been woken since the run began. */
function applyOutcome(
  context: CallContext,
  jitter: Jitter,
  entry: KeyEntry,
  { token, outcome, woken, sawAll }: SettleCall & { readonly woken: boolean; readonly sawAll: boolean },
): void {
  const { startedRun, forced, holder, wokenFor } = entry;
  const again = woken || forced || outcome.kind === "interrupted";
  leaveState(context, entry);
  context.data.entries.set(entry.key, entry);
  entry.startedRun = {};
  entry.announcedIn = undefined;
  entry.forced = false;
  entry.wokenFor = undefined;
  dropAssignment(context, token);
  entry.lastSettled = token;
  // True if no wake since the run began can be lost, and no other run can have written without a report.
  const ranHere = holder?.token === token && startedRun.incarnation === context.data.incarnation;
  recordObserved(context, entry, outcome, ranHere);
  if (!entry.hasLeftLists) dropLists(entry);
  if (sawAll) forgetSeenWakes(entry);
  clearObsolete(context, entry, outcome);
  if ("account" in outcome && outcome.account) entry.account = outcome.account;
  const error = "error" in outcome ? outcome.error : "";
  if (error !== "") entry.error = error.slice(0, maxErrorLength).toWellFormed();
  if (outcome.kind === "paused") notePause(context, entry, outcome.observed);
  if (outcome.kind === "throttled") {
    throttleUntil(context, accountLimit(outcome.account), context.now + Math.ceil(outcome.after));
  }
  // The rest of the outcome is about an object that no longer exists.
  if (again && entry.uid !== startedRun.uid) becomeReady(context, entry, context.now);
  else {
    const againAt = forced ? context.now : (wokenFor ?? context.now);
    moveToNextState(context, jitter, entry, {
      outcome,
      woken,
      forced,
      again,
      againAt,
      ran: startedRun.class,
    });
  }
}

/** True if wakes have come since the run began, and the run has seen each of these changes: none causes a run. */
function sawAllWakes(
  { data }: CallContext,
  { wakes, startedRun, deltas, uid }: KeyEntry,
  outcome: RunOutcome,
): boolean {
  const { observed } = outcome;
  const { answeredWakes = wakes, incarnation } = startedRun;
  if (observed?.cachedLists === undefined || observed.uid !== uid) return false;
  if (deltas === "lost" || incarnation !== data.incarnation || wakes === answeredWakes) return false;
  return deltas.size === wakes - answeredWakes && [...deltas].every((one) => isSeen(seenBy(outcome), one));
}

/** What the run has seen, if it counts. */
function seenBy({ kind, observed }: RunOutcome): readonly string[] {
  const seen = observed?.seen ?? [];
  return kind === "done" && Buffer.byteLength(seen.join("\n")) <= maxSeenBytes ? seen : [];
}

/** The lists that the run leaves contain these changes. */
function forgetSeenWakes(entry: KeyEntry): void {
  entry.deltas = new Set();
  entry.reasons = [];
  entry.class = undefined;
  entry.trace = undefined;
}

/**
 * Records the version that the run observed: no older cached object is given from now on. Keeps the object and the lists
 * that the run leaves.
 */
function recordObserved(
  { data, expiryTime }: CallContext,
  entry: KeyEntry,
  outcome: RunOutcome,
  ranHere: boolean,
): void {
  const { kind, observed } = outcome;
  entry.hasLeftObject = false;
  entry.hasLeftLists = false;
  if (!ranHere) entry.observedIn = undefined;
  if (observed === undefined || observed.uid !== entry.uid) return;
  if (isNewer(observed.resourceVersion, entry.versions.get(observed.kind))) {
    entry.versions.set(observed.kind, observed.resourceVersion);
    entry.cachedObject = undefined;
  }
  if (ranHere) entry.observedIn = data.incarnation;
  if (!(kind === "done" || kind === "wait")) return;
  const until = expiryTime + (observed.keepFor ?? cachedObjectTtl);
  if (observed.cachedLists !== undefined && ranHere) {
    data.cachedLists.delete(entry.key);
    const seen = seenBy(outcome);
    data.cachedLists.set(entry.key, { stored: observed.cachedLists, seen, until });
    entry.hasLeftLists = true;
  }
  const isNewest =
    entry.versions.get(observed.kind) === observed.resourceVersion && isDecimal(observed.resourceVersion);
  if (observed.cachedObject === undefined || !isNewest) return;
  data.cachedObjects.delete(entry.key);
  data.cachedObjects.set(entry.key, { cachedObject: observed.cachedObject, until });
  entry.hasLeftObject = true;
}

/** Marks the key as paused, unless the object has changed since the run read it. */
function notePause({ now }: CallContext, entry: KeyEntry, observed: ObservedVersion | undefined): void {
  if (observed === undefined || (entry.uid !== undefined && entry.uid !== observed.uid)) return;
  const known = entry.versions.get(observed.kind);
  if (known === observed.resourceVersion || isNewer(observed.resourceVersion, known)) entry.pausedSince = now;
}

/** Clears what the outcome makes obsolete: failures, conflicts, the backoff window, the error. */
function clearObsolete(context: CallContext, entry: KeyEntry, { kind }: RunOutcome): void {
  if (kind !== "conflict") entry.conflicts = 0;
  if (kind !== "done" && kind !== "gone") return;
  setFails(context, entry, 0);
  entry.notBefore = 0;
  entry.earlyRunUsed = false;
  entry.error = undefined;
  entry.replaced = undefined;
}

interface OutcomeContext {
  readonly outcome: RunOutcome;
  readonly woken: boolean;
  readonly forced: boolean;
  /** The key is due again at once whatever the outcome, except after a failure. */
  readonly again: boolean;
  /** The time at which the wakes since the run began make it due. */
  readonly againAt: number;
  readonly ran: WakeClass | undefined;
}

/** Moves the key to its next state. */
function moveToNextState(context: CallContext, jitter: Jitter, entry: KeyEntry, what: OutcomeContext): void {
  const { outcome, again, againAt, ran } = what;
  switch (outcome.kind) {
    case "retry":
      countFailure(
        context,
        entry,
        jitter,
        outcome.after === undefined ? undefined : Math.ceil(outcome.after),
      );
      backOff(context, entry, what);
      return;
    case "conflict":
      retryConflict(context, jitter, entry, what);
      return;
    case "throttled":
      runAgain(context, entry, ran);
      return;
    case "done":
    case "wait":
      if (again) runAgain(context, entry, ran, Math.min(againAt, context.now + (outcome.after ?? Infinity)));
      else if (outcome.after !== undefined) runLater(context, entry, outcome, ran);
      return;
    case "terminal":
      if (again) runAgain(context, entry, ran, againAt);
      else park(context, entry);
      return;
    case "paused":
      runAgain(context, entry, ran);
      return;
    case "gone":
      if (again) runAgain(context, entry, ran, againAt);
      else forgetKey(context, entry);
      return;
    case "interrupted":
      runAgain(context, entry, ran);
  }
}

function runAgain(context: CallContext, entry: KeyEntry, ran: WakeClass | undefined, at = context.now): void {
  entry.class ??= ran;
  becomeDue(context, entry, Math.ceil(at));
}

/** The next run after `done` only checks the object again, so it is as urgent as a resync. */
function runLater(
  context: CallContext,
  entry: KeyEntry,
  { kind, after = 0 }: { readonly kind: "done" | "wait"; readonly after?: Milliseconds },
  ran: WakeClass | undefined,
): void {
  entry.class = kind === "done" ? "resync" : ran;
  waitUntil(context, entry, context.now + Math.ceil(after), kind === "done" ? "again" : "wait");
}

/** Waits for the end of the window. One wake per window runs the key early; a wake during the run counts, too. */
function backOff(context: CallContext, entry: KeyEntry, { woken, forced, ran }: OutcomeContext): void {
  const { now, data } = context;
  const { attempts } = data.settings;
  entry.class ??= ran;
  if (forced || useEarlyRun(entry, woken)) {
    becomeReady(context, entry, now);
  } else if (attempts !== undefined && entry.fails >= attempts && !woken) {
    entry.class = undefined;
    entry.why = "backoff";
    park(context, entry);
  } else {
    waitUntil(context, entry, entry.notBefore, "backoff");
  }
}

/** Retries almost at once. Each conflict in a row doubles the wait, and too many count as a failure. */
function retryConflict(context: CallContext, jitter: Jitter, entry: KeyEntry, what: OutcomeContext): void {
  entry.conflicts += 1;
  if (entry.conflicts > maxFreeConflicts) {
    entry.conflicts = 0;
    countFailure(context, entry, jitter);
    backOff(context, entry, what);
  } else {
    entry.class ??= what.ran;
    const wait = withJitter(firstConflictWait * 2 ** (entry.conflicts - 1), jitter);
    waitUntil(context, entry, what.again ? context.now : context.now + wait, "conflict");
  }
}

function park(context: CallContext, entry: KeyEntry): void {
  entry.notBefore = 0;
  entry.earlyRunUsed = false;
  enterState(context, entry, "parked", context.now);
}

/** Keeps only the last answer, the number of an unused job and the history, for a while. */
function forgetKey(context: CallContext, entry: KeyEntry): void {
  const { data, expiryTime } = context;
  data.entries.set(entry.key, {
    ...blankEntry(entry.key),
    lastSettled: entry.lastSettled,
    jobNumber: entry.jobNumber,
  });
  data.expiring.delete(entry.key);
  data.expiring.set(entry.key, expiryTime + goneKeyTtl);
}

function recordRun({ data, now }: CallContext, { key, report }: SettleCall): void {
  if (!report) return;
  const past = { at: new Date(now).toISOString(), ...report };
  data.history.set(key, [past, ...(data.history.get(key) ?? [])].slice(0, maxPastRuns));
  const took = report.duration * runTimeUnit;
  data.meanRunTime =
    data.meanRunTime === undefined
      ? took
      : Math.floor(data.meanRunTime + (took - data.meanRunTime) / 8 + 0.5);
}

function dueIn(context: CallContext, entry: KeyEntry): Milliseconds | undefined {
  return entry.state === "waits" ? Math.max(0, Math.ceil(entry.at - context.now)) : undefined;
}
