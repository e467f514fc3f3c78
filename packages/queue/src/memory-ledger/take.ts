import type { ObjectKey } from "@drover/controller";
import { bellOverlooked, type ClaimAnswer, type Handed, type Taker } from "../ledger.ts";
import type { Claim, Refusal } from "../work-queue.ts";
import { type Entry, forgetLists } from "./ledger-data.ts";
import { accountLimit, controllerLimit, limitOf, opensAt } from "./limits.ts";
import { find, held, type Moment, settled } from "./moment.ts";
import { becomeReady, enter, waitUntil } from "./places.ts";
import { isPaused, nextInTurn } from "./turns.ts";

/** The time that a key waits after a worker of an outdated version tried to claim it. */
const outdatedWait = 100;

/** Starts the run of a due key. If it must not start here and now, the key becomes ready or waits again. */
export function take(moment: Moment, entry: Entry, taker: Taker): ClaimAnswer {
  const refused = sentBack(moment, entry, taker.version);
  return refused ? { refused } : { claimed: begin(moment, entry, taker) };
}

/**
 * The next key for a worker that has just settled a run. A key with an unused job comes first: all workers that could
 * take that job are busy.
 */
export function handOver(moment: Moment, taker: Taker): Handed | undefined {
  if (!settled(moment) || moment.data.paused.controller !== undefined) return undefined;
  const key = overlooked(moment) ?? inTurn(moment);
  if (key === undefined) return undefined;
  const entry = find(moment, key);
  if (held(moment, entry)) return undefined;
  const answer = take(moment, entry, taker);
  return "claimed" in answer ? { key, claim: answer.claimed } : undefined;
}

/** The key of the job that has been unused for longest, if for long enough. */
export function overlooked({ data, now }: Moment): ObjectKey | undefined {
  const { members, scores } = data.states.rung;
  const [oldest] = members;
  return oldest !== undefined && (scores.get(oldest) ?? now) <= now - bellOverlooked ? oldest : undefined;
}

function inTurn(moment: Moment): ObjectKey | undefined {
  if (opensAt(moment, controllerLimit) > moment.now) return undefined;
  const key = nextInTurn(moment);
  if (key !== undefined) moment.data.bells++;
  return key;
}

function sentBack(moment: Moment, entry: Entry, version: number): Refusal | undefined {
  const { account, ranBy } = entry;
  if (isPaused(moment, entry)) {
    becomeReady(moment, entry, moment.now);
    return "paused";
  }
  if (account !== undefined && limitOf(moment, accountLimit(account)).closedUntil > moment.now) {
    becomeReady(moment, entry, moment.now);
    return "throttled";
  }
  if (ranBy > version && moment.data.newest >= ranBy) {
    waitUntil(moment, entry, moment.now + outdatedWait, "newer function");
    return "outdated";
  }
  return undefined;
}

function begin(moment: Moment, entry: Entry, { token, version }: Taker): Claim {
  const { fails, reasons, class: wakeClass = "change", uid, replaced, trace } = entry;
  const versions = Object.fromEntries(entry.versions);
  // Not if it may be older than what the previous run wrote: that run must have reported what it saw, in this era.
  const left = entry.left ? moment.data.copies.get(entry.key)?.copy : undefined;
  const copy = entry.sawIn === moment.data.era ? (entry.copy ?? left) : undefined;
  const lists = listsOf(moment, entry);
  const told: Claim = { fails, reasons, class: wakeClass, uid, replaced, trace, versions };
  enter(moment, entry, "leased", moment.now + moment.lease);
  entry.holder = { token, claim: told };
  entry.run = { answers: entry.wakes, class: wakeClass, uid, era: moment.data.era };
  entry.ranAt = moment.now;
  if (version > 0) entry.ranBy = version;
  entry.reasons = [];
  entry.class = undefined;
  entry.trace = undefined;
  entry.why = undefined;
  entry.forced = false;
  entry.copy = undefined;
  entry.sawIn = undefined;
  forgetLists(entry);
  return { ...told, copy, lists };
}

/** The lists that the previous run left and the deltas since; undefined if one of them is missing. */
function listsOf({ data }: Moment, { key, listed, news, sawIn }: Entry): Claim["lists"] {
  const left = data.lists.get(key)?.left;
  if (!listed || left === undefined || news === "lost" || sawIn !== data.era) return undefined;
  return { left, news: [...news].sort() };
}
