import type { ObjectKey } from "@drover/controller";
import { mostListed } from "../script-bounds.ts";
import { type NotRun, paceUnit } from "../ledger.ts";
import type { KeyReport, KeyState, PastRun, QueueStats } from "../work-queue.ts";
import { accountLimit, opensAt } from "./limits.ts";
import { find, type Moment } from "./moment.ts";
import { countUpTo, lowest } from "./sorted-set.ts";
import { isPaused } from "./turns.ts";

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
    failing: [...data.entries.values()].filter(({ fails }) => fails > 0).length,
    runTime: (data.pace ?? 0) / paceUnit,
    paused: data.paused.controller,
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

export function list(moment: Moment, state: KeyState, offset: number, limit: number): readonly KeyReport[] {
  const keys = moment.data.states[state].members.slice(offset, offset + Math.min(limit, mostListed));
  return keys.map((key) => report(moment, key));
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
    paused: isPaused(moment, key),
  };
}
