import type { ObjectKey } from "@drover/controller";
import { mostListed } from "../script-bounds.ts";
import { type NotRun, paceUnit } from "../ledger.ts";
import type { KeyPage, KeyReport, ListedState, PastRun, QueueStats } from "../work-queue.ts";
import { accountLimit, opensAt } from "./limits.ts";
import { find, type Moment } from "./moment.ts";
import { countBelow, countUpTo, lowest, type SortedSet } from "./sorted-set.ts";
import { pausesOf } from "./pause.ts";

/** How many keys are in which state. */
export function count({ data, now }: Moment): QueueStats {
  const { waits, ready, rung, leased, parked } = data.states;
  const overdue = countUpTo(waits, now);
  const oldest = Math.min(now, ...[waits, ready, rung].map((set) => lowest(set) ?? now));
  return {
    due: overdue + ready.members.length + rung.members.length,
    oldestDue: now - oldest,
    scheduled: waits.members.length - overdue,
    running: leased.members.length,
    parked: parked.members.length,
    failing: data.failing.members.length,
    runTime: (data.pace ?? 0) / paceUnit,
    paused: data.paused.controller !== undefined,
  };
}

/** Which of these keys no run was started of since a time. */
export const notRunSince = ({ data, now }: Moment, keys: readonly ObjectKey[], since: number): NotRun => ({
  now,
  keys: keys.filter((key) => {
    const ranAt = data.entries.get(key)?.ranAt ?? 0;
    return ranAt === 0 || ranAt < since;
  }),
});

/** Keys in a state, `limit` of them, behind the last one of the page before: `after` is its score and the key. */
export function list(moment: Moment, state: ListedState, limit: number, after?: string): KeyPage {
  const { data } = moment;
  const set = state === "failing" ? data.failing : data.states[state];
  const [, at, last] = /^(\S+) (.*)$/s.exec(after ?? "") ?? [];
  const from = at === undefined ? 0 : placeBehind(set, Number(at), last as ObjectKey);
  const keys = set.members.slice(from, from + Math.max(0, Math.min(limit, mostListed)));
  const end = keys.at(-1);
  return {
    keys: keys.map((key) => report(moment, key)),
    next: end !== undefined && keys.length === limit ? `${set.scores.get(end)} ${end}` : undefined,
  };
}

/** Where one that has left its place stood, those of the same score begin. */
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
    pauses: pausesOf(moment, key),
  };
}
