import { type Duration, type Milliseconds, milliseconds } from "@drover/controller";
import { describeCall } from "@drover/fault-proxy";
import { type RunRecord, verdictWords, writesOf } from "./run-record.ts";
import type { Stage, WaitingKey } from "./stage.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A function that is never done. The message says what its last runs did. */
export class NeverSettledError extends Error {
  override readonly name = "NeverSettledError";
}

/** Runs of one key in a row that come to nothing new, before it is said to be stuck; backoff has passed between them. */
const patience = 5;
/** Runs of one key by which a function must have come to rest. */
const mostRuns = 100;

/**
 * Runs whatever is due, and lets the clock go on to what waits for a time, until nothing would happen any more: every
 * key has come to rest, waits for its resync, or comes to the same end again and again and changes nothing.
 *
 * @param within how far the clock may go on.
 * @throws NeverSettledError for a function that goes on changing things.
 */
export async function settle(stage: Stage, clock: VirtualClock, within: Duration = "24h"): Promise<void> {
  const end = clock.now() + milliseconds(within);
  const from = stage.runs.length;
  for (;;) {
    await stage.look();
    const run = await stage.step();
    if (run !== undefined) {
      refuseRestless(stage.runs.slice(from), run);
      continue;
    }
    const [next] = (await stage.waiting()).filter((key) => !isAtRest(key, stage.runs));
    if (next === undefined || next.report.at > end) return;
    clock.advanceTo(next.report.at);
  }
}

/** Lets a time pass, and runs what is due in it. */
export async function pass(stage: Stage, clock: VirtualClock, time: Duration): Promise<void> {
  const end: Milliseconds = clock.now() + milliseconds(time);
  for (;;) {
    await stage.look();
    if ((await stage.step()) !== undefined) continue;
    const [next] = await stage.waiting();
    if (next === undefined || next.report.at > end) break;
    clock.advanceTo(next.report.at);
  }
  clock.advanceTo(end);
}

/** Whether nothing would come of a key's next run, for all that can be told from its last ones. */
function isAtRest({ controller, report, last }: WaitingKey, runs: readonly RunRecord[]): boolean {
  if (last === undefined || report.state === "leased") return false;
  const its = runs.filter((run) => run.controller === controller && run.key === report.key);
  if (report.why === "again") return !last.asksAgain || hasOnlyLooked(its);
  const lately = its.slice(-patience);
  return lately.length === patience && lately.every((run) => isSameEnd(run, last));
}

/** The time had come that the run before had asked for, nobody woke it, and it changed nothing: so will the next one. */
function hasOnlyLooked(runs: readonly RunRecord[]): boolean {
  const [before, last] = runs.slice(-2);
  return before?.asksAgain === true && last?.reasons.length === 0 && writesOf(last).length === 0;
}

const isSameEnd = (run: RunRecord, last: RunRecord): boolean =>
  writesOf(run).length === 0 && verdictWords(run) === verdictWords(last);

function refuseRestless(runs: readonly RunRecord[], { controller, key }: RunRecord): void {
  const its = runs.filter((run) => run.controller === controller && run.key === key);
  if (its.length < mostRuns) return;
  const lately = its.slice(-3).map((run) => {
    const writes = writesOf(run).map(({ call }) => describeCall(call));
    return `  run ${run.number} (${run.reasons.join(", ")}): ${[...writes, verdictWords(run)].join("; ")}`;
  });
  throw new NeverSettledError(
    `${key} has run ${mostRuns} times and is not done: ${controller} goes on changing things. Its last runs:\n` +
      lately.join("\n"),
  );
}
