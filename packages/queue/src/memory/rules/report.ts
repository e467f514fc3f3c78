import type { ObjectKey } from "@drover/controller";
import { maxListItems } from "../../redis/lua/script-bounds.ts";
import { type NotRun, runTimeUnit } from "../../ledger/ledger.ts";
import type { KeyPage, KeyReport, ListedState, PastRun, QueueStats } from "../../work-queue/work-queue.ts";
import { accountLimit, opensAt } from "./limits.ts";
import { entryOf, type CallContext } from "./call-context.ts";
import { countBelow, countUpTo, lowest, type SortedSet, upTo } from "./sorted-set.ts";
import { pausesOf } from "./pause.ts";
import { isPaused } from "./order.ts";

/** Counts the keys by state. */
export function count(context: CallContext): QueueStats {
  const { data, now } = context;
  const { waits, ready, dispatched, leased, parked } = data.states;
  const overdue = countUpTo(waits, now);
  const all = overdue + ready.members.length + dispatched.members.length;
  const allPaused = data.paused.controller !== undefined;
  const { paused, oldest } = allPaused ? { paused: all, oldest: now } : countPaused(context);
  return {
    due: Math.max(0, all - paused),
    oldestDue: now - oldest,
    scheduled: waits.members.length - overdue,
    running: leased.members.length,
    parked: parked.members.length,
    failing: data.failing.members.length,
    runTime: (data.meanRunTime ?? 0) / runTimeUnit,
    paused: paused + data.states.paused.members.length,
    allPaused,
  };
}

/** Ended timers that one count checks for a pause. */
const maxOverdueChecked = 200;

/**
 * Counts the due keys that a pause holds back, and finds since when the oldest of the others is due. Ready keys in a
 * paused namespace are counted per queue, once the queue was found to be paused.
 */
function countPaused(context: CallContext): { readonly paused: number; readonly oldest: number } {
  const { data, now } = context;
  const { waits, ready, dispatched } = data.states;
  const over = upTo(waits, now, maxOverdueChecked).map((key) => entryOf(context, key));
  const mayRun = over.filter((entry) => !isPaused(context, entry));
  const queues = [...data.queues.values()];
  const pausedQueues = queues.filter(({ name }) => data.throttled.scores.get(name) === Infinity);
  const open =
    pausedQueues.length === 0
      ? [ready]
      : queues.filter((one) => !pausedQueues.includes(one)).map(({ keys }) => keys);
  const times = [...mayRun.map(({ at }) => at), ...[dispatched, ...open].map((set) => lowest(set) ?? now)];
  return {
    paused:
      over.length - mayRun.length + pausedQueues.reduce((sum, { keys }) => sum + keys.members.length, 0),
    oldest: Math.min(now, ...times),
  };
}

/** Keys for which no run has started since a time, without keys that are due and have a paused object. */
export const notRunSince = (
  { data, now }: CallContext,
  keys: readonly ObjectKey[],
  since: number,
): NotRun => ({
  now,
  keys: keys.filter((key) => {
    const { ranAt = 0, state } = data.entries.get(key) ?? {};
    return state !== "paused" && (ranAt === 0 || ranAt < since);
  }),
});

/** Up to `limit` keys in a state, after the last key of the page before: `after` is its score and the key. */
export function list(context: CallContext, state: ListedState, limit: number, after?: string): KeyPage {
  const { data } = context;
  const set = state === "failing" ? data.failing : data.states[state];
  const [, at, last] = /^(\S+) (.*)$/s.exec(after ?? "") ?? [];
  const from = at === undefined ? 0 : indexAfter(set, Number(at), last as ObjectKey);
  const most = Math.max(0, Math.min(limit, maxListItems));
  const keys = set.members.slice(from, from + most);
  const end = keys.at(-1);
  return {
    keys: keys.map((key) => report(context, key)),
    next: end !== undefined && keys.length === most ? `${set.scores.get(end)} ${end}` : undefined,
  };
}

/** The index after `last`. If that has left its place: of the first member with the same score. */
function indexAfter(set: SortedSet<ObjectKey>, score: number, last: ObjectKey): number {
  return set.scores.get(last) === score ? set.members.indexOf(last) + 1 : countBelow(set, score);
}

export function inspect(
  context: CallContext,
  key: ObjectKey,
): { readonly key: KeyReport; readonly runs: readonly PastRun[] } {
  return { key: report(context, key), runs: context.data.history.get(key) ?? [] };
}

function report(context: CallContext, key: ObjectKey): KeyReport {
  const entry = entryOf(context, key);
  const { at, class: wakeClass, reasons, why, error, fails, uid, account } = entry;
  return {
    key,
    state: entry.state ?? (context.data.entries.has(key) ? "idle" : "unknown"),
    at,
    class: wakeClass,
    reasons: [...reasons],
    why,
    error,
    fails,
    uid,
    account,
    accountOpens: account === undefined ? 0 : Math.ceil(opensAt(context, accountLimit(account))),
    pauses: pausesOf(context, entry),
  };
}
