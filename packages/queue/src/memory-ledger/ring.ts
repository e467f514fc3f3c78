import type { Milliseconds } from "@drover/controller";
import type { Bell } from "../bells.ts";
import { controllerLimit, opensAt } from "./limits.ts";
import { find, type Moment, settled } from "./moment.ts";
import { give } from "./offers.ts";
import { becomeReady, enter } from "./places.ts";
import { above, lowest, upTo } from "./sorted-set.ts";
import { nextInTurn, openShutQueues } from "./turns.ts";

/** Keys with ended timers that one call makes ready. */
const promotedAtOnce = 200;
/** Unused jobs that one call returns, for each of the two cases below. */
const unansweredAtOnce = 1_000;
/** Stands for a missing job number. */
const noBell = "0";

/**
 * Assigns ready keys to advertised slots, and adds jobs for the others: in all no more than there are idle slots, or
 * `atLeast`. The rest stays ready, so that the ledger decides the order, and is chained to runs that end. A lost job is
 * added again.
 */
export function ring(moment: Moment, atLeast = 0): readonly Bell[] {
  makeDueReady(moment);
  return ringReady(moment, atLeast);
}

export function ringReady(moment: Moment, atLeast = 0): readonly Bell[] {
  const { data, now } = moment;
  const bells: Bell[] = [];
  if (!settled(moment) || data.paused.controller !== undefined) return bells;
  const { rung, leased } = data.states;
  const idle = Math.max(1, data.slots) - leased.members.length;
  let room = Math.max(atLeast, idle) - rung.members.length;
  while (room-- > 0 && opensAt(moment, controllerLimit) <= now) {
    const key = nextInTurn(moment);
    if (key === undefined) break;
    const entry = find(moment, key);
    if (give(moment, entry)) continue;
    enter(moment, entry, "rung", now);
    if (entry.bell !== undefined) continue; // its last job was not used, and serves now
    entry.bell = String(++data.bells);
    bells.push({ key, number: entry.bell });
  }
  return bells;
}

/** Makes keys with ended timers ready, and lets throttled queues take turns again once they open. */
export function makeDueReady(moment: Moment): void {
  const { waits } = moment.data.states;
  for (const key of upTo(waits, moment.now, promotedAtOnce)) {
    const entry = find(moment, key);
    becomeReady(moment, entry, entry.at);
  }
  openShutQueues(moment);
}

/** The time until a key may be due; undefined if only a wake can make one due. */
export function nextDue(moment: Moment): Milliseconds | undefined {
  const { data, now } = moment;
  const { waits, ready } = data.states;
  if (moment.left.turns <= 0) return 0; // more may be due
  const times = [lowest(waits) ?? Infinity, lowest(data.shut) ?? Infinity];
  if (data.claimsFrom !== undefined) times.push(data.claimsFrom);
  const opens = opensAt(moment, controllerLimit);
  if (opens > now && ready.members.length > 0) times.push(opens);
  const next = Math.min(...times);
  return next === Infinity ? undefined : Math.max(0, Math.ceil(next - now));
}

export function unanswered(moment: Moment, patience: Milliseconds): readonly Bell[] {
  const { now } = moment;
  const { rung } = moment.data.states;
  const late = upTo(rung, now - patience, unansweredAtOnce);
  // The clock went back: the age of these jobs is unknown.
  const early = above(rung, now).slice(0, unansweredAtOnce);
  return [...late, ...early].map((key) => ({ key, number: find(moment, key).bell ?? noBell }));
}

/** Makes the key of a lost job ready again. Does nothing if the job was used meanwhile. */
export function ringAgain(moment: Moment, { key, number }: Bell): void {
  const entry = find(moment, key);
  if (entry.state !== "rung" || (entry.bell ?? noBell) !== number) return;
  entry.bell = undefined;
  becomeReady(moment, entry, entry.at);
}
