import type { ObjectKey } from "@drover/controller";
import { mostListed } from "../script-bounds.ts";
import { type NotRun, paceUnit } from "../ledger.ts";
import type { KeyPage, KeyReport, ListedState, PastRun, QueueStats } from "../work-queue.ts";
import { accountLimit, opensAt } from "./limits.ts";
import { find, type Moment } from "./moment.ts";
import { countBelow, countUpTo, lowest, type SortedSet, upTo } from "./sorted-set.ts";
import { pausesOf } from "./pause.ts";
import { isPaused } from "./turns.ts";

/** Counts the keys by state. */
export function count(moment: Moment): QueueStats {
  const { data, now } = moment;
  const { waits, ready, rung, leased, parked } = data.states;
  const overdue = countUpTo(waits, now);
  const all = overdue + ready.members.length + rung.members.length;
  const allPaused = data.paused.controller !== undefined;
  const { paused, oldest } = allPaused ? { paused: all, oldest: now } : pausedOf(moment);
  return {
    due: Math.max(0, all - paused),
    oldestDue: now - oldest,
    scheduled: waits.members.length - overdue,
    running: leased.members.length,
    parked: parked.members.length,
    failing: data.failing.members.length,
    runTime: (data.pace ?? 0) / paceUnit,
    paused: paused + data.states.paused.members.length,
    allPaused,
  };
}

/** Ended timers that one count checks for a pause. */
const overdueLooked = 200;

/**
 * Counts the due keys that a pause holds back, and finds since when the oldest of the others is due. Ready keys in a
 * paused namespace are counted per queue, once the queue was found to be paused.
 */
function pausedOf(moment: Moment): { readonly paused: number; readonly oldest: number } {
  const { data, now } = moment;
  const { waits, ready, rung } = data.states;
  const over = upTo(waits, now, overdueLooked).map((key) => find(moment, key));
  const mayRun = over.filter((entry) => !isPaused(moment, entry));
  const queues = [...data.queues.values()];
  const shut = queues.filter(({ name }) => data.shut.scores.get(name) === Infinity);
  const open =
    shut.length === 0 ? [ready] : queues.filter((one) => !shut.includes(one)).map(({ keys }) => keys);
  const times = [...mayRun.map(({ at }) => at), ...[rung, ...open].map((set) => lowest(set) ?? now)];
  return {
    paused: over.length - mayRun.length + shut.reduce((sum, { keys }) => sum + keys.members.length, 0),
    oldest: Math.min(now, ...times),
  };
}

/** Keys for which no run has started since a time, without keys that are due and have a paused object. */
export const notRunSince = ({ data, now }: Moment, keys: readonly ObjectKey[], since: number): NotRun => ({
  now,
  keys: keys.filter((key) => {
    const { ranAt = 0, state } = data.entries.get(key) ?? {};
    return state !== "paused" && (ranAt === 0 || ranAt < since);
  }),
});

/** Up to `limit` keys in a state, after the last key of the page before: `after` is its score and the key. */
export function list(moment: Moment, state: ListedState, limit: number, after?: string): KeyPage {
  const { data } = moment;
  const set = state === "failing" ? data.failing : data.states[state];
  const [, at, last] = /^(\S+) (.*)$/s.exec(after ?? "") ?? [];
  const from = at === undefined ? 0 : placeBehind(set, Number(at), last as ObjectKey);
  const most = Math.max(0, Math.min(limit, mostListed));
  const keys = set.members.slice(from, from + most);
  const end = keys.at(-1);
  return {
    keys: keys.map((key) => report(moment, key)),
    next: end !== undefined && keys.length === most ? `${set.scores.get(end)} ${end}` : undefined,
  };
}

/** The index after `last`. If that has left its place: of the first member with the same score. */
function placeBehind(set: SortedSet<ObjectKey>, score: number, last: ObjectKey): number {
  return set.scores.get(last) === score ? set.members.indexOf(last) + 1 : countBelow(set, score);
}

export function inspect(
  moment: Moment,
  key: ObjectKey,
): { readonly key: KeyReport; readonly runs: readonly PastRun[] } {
  return { key: report(moment, key), runs: moment.data.history.get(key) ?? [] };
}

function report(moment: Moment, key: ObjectKey): KeyReport {
  const entry = find(moment, key);
  const { at, class: wakeClass, reasons, why, error, fails, uid, account } = entry;
  return {
    key,
    state: entry.state ?? (moment.data.entries.has(key) ? "idle" : "unknown"),
    at,
    class: wakeClass,
    reasons: [...reasons],
    why,
    error,
    fails,
    uid,
    account,
    accountOpens: account === undefined ? 0 : Math.ceil(opensAt(moment, accountLimit(account))),
    pauses: pausesOf(moment, entry),
  };
}
