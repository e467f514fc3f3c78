/**
 * # A hostile function beside its neighbours
 *
 *     node verification/hostile-function/main.ts --minutes 10 [--shared] [--seed 1]
 *
 * A function does all that its Redis user can: fills memory, holds connections, calls loaded scripts with hostile arguments,
 * breaks its own keys at random, and tries what it may not. The shipped bridge wakes it and a neighbour for the same objects.
 * Phases with and without it alternate.
 *
 * On a Redis of its own, the neighbour's reaction (from a change to the beginning of the run) has a p99 of at most twice that
 * of the phases without it. On a Redis that both share nothing is promised of time; it runs no script of its own and touches no
 * key but its own, as MONITOR and the keys themselves show. The last line has the figures; 1 is the exit code when one is not so.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { percentile } from "../harness/spread.ts";
import { openStage } from "./stage.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    shared: { type: "boolean", default: false },
  },
});
const [minutes, seed, shared] = [Number(values.minutes), Number(values.seed), values.shared];
/** How long a phase lasts, how often an object changes in it, and how many objects there are. */
const phase = 10_000;
const pace = 50;
const objects = 200;
/** A run that has not begun after this time is lost. */
const patience = 30_000;

process.exit(await main());

async function main(): Promise<number> {
  await using stage = await openStage(shared);
  const without: number[] = [];
  const beside: number[] = [];
  const trespasses = new Set<string>();
  const kinds = ["done", "denied", "full", "refused"] as const;
  const total = { done: 0, denied: 0, full: 0, refused: 0 };
  let lost = 0;
  let next = 0;
  const load = async (reactions: number[]): Promise<void> => {
    const end = performance.now() + phase;
    const underWay: Promise<void>[] = [];
    while (performance.now() < end) {
      const late = delay(patience, undefined, { ref: false });
      const reaction = Promise.race([stage.react(next++ % objects), late]);
      const took = (ms: number | undefined): void => {
        if (ms === undefined) lost += 1;
        else reactions.push(ms);
      };
      underWay.push(reaction.then(took));
      await delay(pace);
    }
    await Promise.all(underWay);
  };
  await load([]);
  for (let i = 0; i < Math.max(1, Math.round((minutes * 60_000) / (2 * phase))); i++) {
    await load(without);
    const stop = await stage.turnHostile(seed * 10_000 + i);
    await load(beside);
    const counts = await stop();
    for (const name of kinds) total[name] += counts[name];
    for (const one of await stage.trespasses()) trespasses.add(one);
    // What it has left is no part of the phase without it.
    await delay(1_000);
  }
  const [quiet, hostile] = [percentile(without, 99), percentile(beside, 99)];
  const isSlow = !shared && hostile > 2 * quiet;
  for (const one of trespasses) console.log(`TRESPASS: ${one}`);
  console.log(
    `${minutes} minutes, seed ${seed}, ${shared ? "one Redis for all" : "a Redis of its own"}: the neighbour's p99 is ` +
      `${quiet.toFixed(0)} ms without and ${hostile.toFixed(0)} ms beside the hostile function ` +
      `(${without.length} and ${beside.length} changes, p50 ${percentile(without, 50).toFixed(0)} and ` +
      `${percentile(beside, 50).toFixed(0)} ms), ${lost} lost; ${trespasses.size} trespasses; it made ${total.done} calls, ` +
      `was denied ${total.denied}, met a full server ${total.full} times, was refused ${total.refused} else`,
  );
  return isSlow || lost > 0 || trespasses.size > 0 || total.done === 0 || total.denied === 0 ? 1 : 0;
}
