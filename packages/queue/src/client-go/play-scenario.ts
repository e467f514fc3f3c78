import type { Scenario, Step } from "@drover/client-go-queue";
import { isDeepStrictEqual } from "node:util";
import {
  add,
  advance,
  done,
  get,
  isDue,
  readQueue,
  type OpenScenarioLedger,
  setResult,
  type ScenarioQueue,
  scenarioQueue,
  type QueueReading,
} from "./scenario-queue.ts";

/**
 * Plays a scenario of client-go on a ledger. Returns the differences, one line each; empty if there are none.
 *
 * | client-go | here |
 * | --- | --- |
 * | add | a wake |
 * | get | a claim of the next job with a key that can be claimed |
 * | forget, addAfter, addRateLimited, then done | one outcome, reported at done: `done`, `done` with `after`, `retry` |
 * | addAfter, addRateLimited of a key that is not being processed | a run of it with that outcome |
 * | shutDown, shutDownWithDrain | nothing: a ledger outlives its workers |
 *
 * client-go leaves a timer set when its key runs before. Such timers are not compared, but their consequences are.
 */
export async function playScenario(
  { base, max, steps }: Scenario,
  open: OpenScenarioLedger,
): Promise<readonly string[]> {
  const queue = await scenarioQueue(open, { first: base, longest: max });
  const overtaken = new Set<string>();
  const differences: string[] = [];
  for (const [i, step] of steps.entries()) {
    const got = await play(queue, step);
    // Calls during a run only take effect when it is done.
    if ("key" in step && step.do !== "done" && queue.running.has(step.key)) continue;
    const ours = await readQueue(queue, "key" in step ? step.key : undefined);
    const theirs = await withoutOvertakenTimers(queue, step, ours, overtaken);
    for (const [what, our, their] of pairs({ ...ours, got }, theirs)) {
      if (isDeepStrictEqual(our, their)) continue;
      const call = [step.do, ...("key" in step ? [step.key] : []), ...("ms" in step ? [step.ms] : [])].join(
        " ",
      );
      differences.push(`${i}. ${call}: ${what} ${JSON.stringify(our)}, not ${JSON.stringify(their)}`);
    }
  }
  return differences;
}

/** Returns the key that `get` returned, null if it would block; undefined for all other steps. */
async function play(queue: ScenarioQueue, step: Step): Promise<string | null | undefined> {
  switch (step.do) {
    case "get":
      return get(queue);
    case "add":
      await add(queue, step.key);
      return undefined;
    case "forget":
      if (queue.running.has(step.key)) await setResult(queue, step.key, { failed: false });
      return undefined;
    case "addAfter":
      await setResult(queue, step.key, { runAgainIn: step.ms });
      return undefined;
    case "addRateLimited":
      await setResult(queue, step.key, { failed: true });
      return undefined;
    case "done":
      await done(queue, step.key);
      return undefined;
    case "advance":
      await advance(queue, step.ms);
      return undefined;
    case "shutDown":
    case "shutDownWithDrain":
      return undefined;
  }
}

/** client-go's step, without the timers of keys that have been due or have run since these were set. */
async function withoutOvertakenTimers(
  queue: ScenarioQueue,
  step: Step,
  ours: QueueReading,
  overtaken: Set<string>,
): Promise<Step> {
  for (const key of overtaken) if (!(key in step.waiting)) overtaken.delete(key);
  for (const key of Object.keys(step.waiting)) if (await isDue(queue, key)) overtaken.add(key);
  const timers = Object.entries(step.waiting);
  const waiting = Object.fromEntries(timers.filter(([key]) => key in ours.waiting || !overtaken.has(key)));
  return { ...step, waiting };
}

/** The values to compare: name, ours, theirs. */
const pairs = (
  ours: QueueReading & { readonly got: string | null | undefined },
  theirs: Step,
): readonly (readonly [string, unknown, unknown])[] => [
  ["got", ours.got, "got" in theirs ? theirs.got : undefined],
  ["length", ours.length, theirs.length],
  ["waiting", ours.waiting, theirs.waiting],
  ...("key" in theirs ? ([["requeues", ours.requeues, theirs.requeues]] as const) : []),
];
