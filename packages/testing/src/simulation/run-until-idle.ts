import { type Duration, type Milliseconds, parseDuration } from "@drover/controller";
import { describeCall } from "../fault-proxy/index.ts";
import { type SteppedRun, describeOutcome, writesOf } from "./stepped-run.ts";
import type { Simulation, WaitingKey } from "./simulation.ts";
import type { SteppedClock } from "./stepped-clock.ts";

/** A function that is never done. The message says what its last runs did. */
export class NeverIdleError extends Error {
  override readonly name = "NeverSettledError";
}

/** Runs of one key in a row that come to nothing new, before it is said to be stuck; backoff has passed between them. */
const maxIdenticalRuns = 5;
/** Runs of one key by which a function must have come to rest. */
const maxRuns = 100;

/**
 * Runs whatever is due, and lets the clock go on to what waits for a time, until nothing would happen any more: every
 * key has come to rest, waits for its resync, or comes to the same end again and again and changes nothing.
 *
 * @param within how far the clock may go on.
 * @throws NeverSettledError for a function that goes on changing things.
 */
export async function runUntilIdle(
  simulation: Simulation,
  clock: SteppedClock,
  within: Duration = "24h",
): Promise<void> {
  const end = clock.now() + parseDuration(within);
  const from = simulation.runs.length;
  for (;;) {
    await simulation.observeChanges();
    const run = await simulation.runNext();
    if (run !== undefined) {
      throwIfRestless(simulation.runs.slice(from), run);
      continue;
    }
    const [next] = (await simulation.waitingKeys()).filter((key) => !isAtRest(key, simulation.runs));
    if (next === undefined || next.report.at > end) return;
    clock.advanceTo(next.report.at);
  }
}

/** Lets a time pass, and runs what is due in it. */
export async function advanceBy(simulation: Simulation, clock: SteppedClock, time: Duration): Promise<void> {
  const end: Milliseconds = clock.now() + parseDuration(time);
  for (;;) {
    await simulation.observeChanges();
    if ((await simulation.runNext()) !== undefined) continue;
    const [next] = await simulation.waitingKeys();
    if (next === undefined || next.report.at > end) break;
    clock.advanceTo(next.report.at);
  }
  clock.advanceTo(end);
}

/** Whether nothing would come of a key's next run, for all that can be told from its last ones. */
function isAtRest({ controller, report, last }: WaitingKey, runs: readonly SteppedRun[]): boolean {
  if (last === undefined || report.state === "leased" || report.reasons.length > 0) return false;
  const its = runs.filter((run) => run.controller === controller && run.key === report.key);
  if (report.why === "again") return !last.requestsRequeue || hasOnlyLooked(its);
  const lately = its.slice(-maxIdenticalRuns);
  return lately.length === maxIdenticalRuns && lately.every((run) => isSameEnd(run, last));
}

/** The time had come that the run before had asked for, nobody woke it, and it changed nothing: so will the next one. */
function hasOnlyLooked(runs: readonly SteppedRun[]): boolean {
  const [before, last] = runs.slice(-2);
  return before?.requestsRequeue === true && last?.reasons.length === 0 && writesOf(last).length === 0;
}

const isSameEnd = (run: SteppedRun, last: SteppedRun): boolean =>
  writesOf(run).length === 0 && describeOutcome(run) === describeOutcome(last);

function throwIfRestless(runs: readonly SteppedRun[], { controller, key }: SteppedRun): void {
  const its = runs.filter((run) => run.controller === controller && run.key === key);
  if (its.length < maxRuns) return;
  const lately = its.slice(-3).map((run) => {
    const writes = writesOf(run).map(({ call }) => describeCall(call));
    return `  run ${run.number} (${run.reasons.join(", ")}): ${[...writes, describeOutcome(run)].join("; ")}`;
  });
  throw new NeverIdleError(
    `${key} has run ${maxRuns} times and is not done: ${controller} goes on changing things. Its last runs:\n` +
      lately.join("\n"),
  );
}
